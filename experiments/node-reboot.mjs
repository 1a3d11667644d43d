/** Does a node that reboots come back to a volume that is still its own? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'node-reboot',
  fault: 'node-reboot',
});
