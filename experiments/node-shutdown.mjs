/** Does a node that is shut down in order give its volume away before it has unmounted it? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'node-shutdown',
  fault: { kind: 'node-shutdown', shutdownGrace: '30s' },
});
