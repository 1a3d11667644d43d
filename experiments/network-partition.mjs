/** Does a node that is cut off, but alive, go on writing to a volume that another node was given? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'network-partition',
  fault: 'network-partition',
  remedy: 'force-delete',
});
