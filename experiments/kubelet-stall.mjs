/** Does a kubelet that stands still cost the data of a database that runs? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'kubelet-stall',
  fault: 'kubelet-stall',
  remedy: 'force-delete',
});
