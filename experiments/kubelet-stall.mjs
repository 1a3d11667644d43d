/** Does a kubelet that stands still cost the data of a database that runs? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'kubelet-stall',
  question:
    'A kubelet stands still, its pods run: does Kubernetes let a second node write the volume?',
  fault: 'kubelet-stall',
  defaults: { remedy: 'force-delete' },
});
