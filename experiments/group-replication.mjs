/** The comparison that everyone asks for: three MySQL servers instead of one, the primary cut off. */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'group-replication',
  fault: 'network-partition',
  database: 'group-replication',
  watch: { horizon: '120s', overlap: '30s' },
});
