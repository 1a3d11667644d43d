/** Does a node that gets its volume back use the mount that it had before another node wrote? */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'stale-global-mount',
  question:
    'A volume goes from A to B and, A healed without a reboot, back: does A use its old mount?',
  fault: 'network-partition',
  remedy: { kind: 'force-delete', moveBack: true },
  workload: { preStop: '20s' },
});
