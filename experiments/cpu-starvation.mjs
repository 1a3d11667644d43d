/** Does a node without CPU time lose its volume while its database still writes? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'cpu-starvation',
  fault: 'cpu-starvation',
});
