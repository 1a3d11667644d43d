/** What the model does not know: shown in every report that it makes a prediction for. */
import type { Database } from '../run/index.ts';

export const modelVersion = '0.10';

/** Whose times were measured, and whose damage. */
const measuredOn = { name: 'mysql', title: 'MySQL' } as const;

export const limits = ({ name, title, tools }: Database): readonly string[] => [
  'It has never been checked against real runs in bulk: single measured runs set its constants.',
  'It keeps the volume as a list of ledger rows, not pages: which rows survive two writers is decided row by row, the later write standing. A real volume may break in other ways, or more.',
  'Whether a server can start beside one that writes is drawn, 15 in 41, and not derived from the pages that were written: above 500 commits during one recovery it never starts, where that really begins is not known.',
  'How long two servers write jointly before a tree breaks is drawn, 4 to 22 s, and so is whether a replaced server’s shutdown breaks one: both from about 30 measured runs (docs/internals/model.md).',
  `File system metadata, fsck findings, ${tools.offline} and ${tools.checkTable} follow from that line; they are not modelled. XFS is taken for ext4.`,
  'A disk with honest flushes has lost nothing when power goes: between two flushes the model has no writes under way. A disk that ignores them loses all since it was attached, or is unreadable where a part was kept; single torn pages and the doublewrite buffer that mends them do not occur.',
  'After one I/O error a file system takes no more writes until it is mounted anew; an idle database does no I/O, and notices nothing.',
  'What a stalled path holds is replayed in order, at one moment; as many sessions hang in it as clients open, without the server’s limit of connections.',
  'Two servers on one shared directory with local locks both go on; measured, one of the two died each time.',
  'A disk that refuses asks nobody for help: no operator unmounts, stops a machine or breaks a lock.',
  'Watches take 1 to 20 ms, API calls 2 to 10 ms, however much there is to do.',
  'A node without CPU time does all it does more slowly by one factor, and its heartbeats come through by chance: how often is an assumption.',
  'A kubelet that stands still or is restarted goes on with what it had begun; of a restart it models what is forgotten about volumes, not the order of its scan.',
  'A node monitor that takes its cache of Leases for stale passes over one node; a real one may pass over all of them, until the cache has caught up.',
  'A kubelet whose Node was deleted learns of its pods as any other; in both measured runs it did nothing until it was restarted.',
  'An API server that goes on is heard by each client within 7 s: an assumption.',
  'A partition cuts the whole node off at once, or from the control plane alone; its storage goes with it or not at all.',
  'Packets in flight at a partition are lost; real ones may be sent again when it heals.',
  'Each database is one replica with one volume: no rollouts, no other load, and a scheduler that draws its node.',
  'Latencies are drawn uniformly and independently from ranges, some of which are assumptions.',
  ...(name === measuredOn.name
    ? []
    : [
        `${title} is played as ${measuredOn.title}: how long it starts, recovers and stops, and when two of them break a volume, was measured on that one alone.`,
      ]),
];
