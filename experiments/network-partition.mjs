/** Does a node that is cut off, but alive, go on writing to a volume that another node was given? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'network-partition',
  fault: 'network-partition',
  remedy: 'force-delete',
});
