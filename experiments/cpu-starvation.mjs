/** Does a node without CPU time lose its volume while its database still writes? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'cpu-starvation',
  fault: 'cpu-starvation',
});
