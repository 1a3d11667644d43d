/** Does a node that crashes lose what its database had acknowledged? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'node-crash',
  fault: 'node-crash',
  remedy: 'force-delete',
});
