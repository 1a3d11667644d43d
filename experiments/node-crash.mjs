/** Does a node that crashes lose what its database had acknowledged? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'node-crash',
  fault: 'node-crash',
  remedy: 'force-delete',
});
