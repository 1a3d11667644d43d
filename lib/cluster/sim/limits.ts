/** What the model does not know: shown in every report that it makes a prediction for. */

export const modelVersion = '0.1';

export const limits: readonly string[] = [
  'It has never been checked against real runs in bulk: single measured runs set its constants.',
  'It keeps the volume as a list of ledger rows, not pages: which rows survive two writers is decided row by row, the later write standing. A real volume may break in other ways, or more.',
  'It draws a line at 100 commits during one recovery: above, the successor cannot start and the volume is unreadable; below, both serve. Measured are only 25 and 1,300 commits a second.',
  'File system metadata, fsck findings, innochecksum and CHECK TABLE follow from that line; they are not modelled.',
  'A disk keeps what it acknowledged: missing flushes and torn pages do not occur.',
  'The control plane never fails, restarts or lags; watches take 1 to 20 ms.',
  'A partition cuts the whole node off at once; the path from node to disk always survives it.',
  'Packets in flight at a partition are lost; real ones may be sent again when it heals.',
  'One volume, one StatefulSet replica, its pods and two or more nodes: no other load.',
  'Latencies are drawn uniformly and independently from ranges, some of which are assumptions.',
];
