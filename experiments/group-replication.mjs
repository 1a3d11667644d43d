/** The comparison that everyone asks for: three MySQL servers instead of one, the primary cut off. */
import { experiment } from '../lib/cli/start.mjs';

export default await experiment({
  name: 'group-replication',
  fault: 'network-partition',
  database: 'group-replication',
  watch: { horizon: '120s', overlap: '30s' },
});
