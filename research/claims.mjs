/** What became of a claim that this project began with? `claims.mjs 8` asks it of a cluster. */
import '../lib/cli/node-floor.mjs';

const { askClaims } = await import('./claims/command.ts');

await askClaims();
