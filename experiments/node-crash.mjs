/** Does a node that crashes lose what its database had acknowledged? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'node-crash',
  question: 'A node crashes: does every acknowledged commit survive the move to another node?',
  fault: 'node-crash',
  defaults: { remedy: 'force-delete' },
});
