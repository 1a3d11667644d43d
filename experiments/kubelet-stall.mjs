/** Does a kubelet that stands still cost the data of a database that runs? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'kubelet-stall',
  fault: 'kubelet-stall',
  remedy: 'force-delete',
});
