/** Does a controller manager that dies in the middle of the wait let a second writer in? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'controller-restart',
  question: 'The controller manager dies while it waits for a lost node: does the wait hold?',
  fault: 'network-partition',
  remedy: 'force-delete',
  also: 'controller-restart',
  // The wait starts again in its middle: six minutes from the removal of the pod become nine and more.
  watch: { horizon: '20m' },
});
