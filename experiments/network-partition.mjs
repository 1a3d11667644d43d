/** Does a node that is cut off, but alive, go on writing to a volume that another node was given? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'network-partition',
  question: 'A node is cut off but alive: does Kubernetes let a second node write its volume?',
  fault: 'network-partition',
  defaults: { remedy: 'force-delete' },
});
