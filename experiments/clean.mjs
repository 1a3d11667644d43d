/** Removes what dead runs left behind; with --all also clusters that were kept. */
import '../lib/node-floor.mjs';

const { clean } = await import('../lib/cli/commands/clean.ts');

await clean();
