/** Does a controller manager that dies in the middle of the wait let a second writer in? */
import '../lib/node-floor.mjs';

const { runExperiment } = await import('../lib/cli/commands/experiment.ts');

await runExperiment({
  name: 'controller-restart',
  question: 'The controller manager dies while it waits for a lost node: does the wait hold?',
  fault: 'network-partition',
  remedy: 'force-delete',
  also: 'controller-restart',
  // The wait begins anew in its middle: six minutes that began when the pod went become nine and more.
  watch: { horizon: '20m' },
});
