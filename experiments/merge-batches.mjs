/** The shards of one matrix, run apart, as one batch with one report. */
import '../lib/node-floor.mjs';

const { mergeShards } = await import('../lib/cli/merge-batches.ts');

await mergeShards();
