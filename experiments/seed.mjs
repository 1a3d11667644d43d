/** What became of a claim that this project began with? `seed.mjs 8` asks it of a cluster. */
import '../lib/node-floor.mjs';

const { askSeeds } = await import('../lib/cli/commands/seed.ts');

await askSeeds();
