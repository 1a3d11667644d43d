/** Does a detach that fails let a second node attach what the first still has mounted? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'uncertain-attachment',
  question: 'The storage refuses to detach a lost node: does Kubernetes attach a second one?',
  fault: 'network-partition',
  remedy: 'force-delete',
  disk: { mode: 'pending-while-busy', attachWhileBusy: 'granted' },
});
