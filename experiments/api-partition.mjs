/** Is a database safe whose node lost the control plane and nothing else? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'api-partition',
  fault: 'api-partition',
  remedy: 'force-delete',
});
