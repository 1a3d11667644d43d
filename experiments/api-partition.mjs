/** Is a database safe whose node lost the control plane and nothing else? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'api-partition',
  fault: 'api-partition',
  remedy: 'force-delete',
});
