/** The shards of one matrix, run apart, as one batch with one report. */
import '../lib/node-floor.mjs';

const { mergeShards } = await import('../lib/cli/commands/merge-batches.ts');

await mergeShards();
