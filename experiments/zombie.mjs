/** Does a node that stood still, and goes on after the hand-over, damage what the next one wrote? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'zombie',
  fault: 'freeze',
  remedy: 'force-delete',
});
