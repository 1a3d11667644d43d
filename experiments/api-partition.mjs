/** Is a database safe whose node lost the control plane and nothing else? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'api-partition',
  question:
    'A node loses only the control plane: does a second one write what its clients still use?',
  fault: 'api-partition',
  defaults: { remedy: 'force-delete' },
});
