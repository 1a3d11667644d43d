/** What does a remedy that is meant for a lost node do to a healthy one? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'healthy-node',
  fault: 'none',
  remedy: { kind: 'out-of-service', at: '0s' },
});
