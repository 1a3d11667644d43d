/** What the project found, as sentences that fault events of the store can be counted for. */
import type { VerdictWord } from '../experiment/verdict.ts';
import { all, crashed, cutOff, disk, field, remedy, unchanged, type Fits } from './counts.ts';

export interface Finding {
  readonly says: string;
  readonly words: readonly VerdictWord[];
  readonly fits: Fits;
  /** A committed one with stock timers, below reports/. */
  readonly run?: string;
}

/** The path to the disk, its file system and the access mode are as they come. */
const asItComes = unchanged('link', 'filesystem', 'accessMode');
/** Grace 0 and killed servers end the pod; a written Lease keeps the node. */
const leftAlone = unchanged('terminationGraceS', 'serverKills', 'also');
const frozen = field('fault', 'freeze');

export const findings: Readonly<Record<string, readonly Finding[]>> = {
  'The node lives, and somebody acts': [
    {
      says: 'cut off, its pod **deleted by force**, storage that does not fence: the second node mounts beside the first, six minutes later',
      words: ['corrupt'],
      fits: all(cutOff, remedy('force-delete'), disk('unfenced'), asItComes),
      run: 'samples/partition-force-delete-unfenced',
    },
    {
      says: 'cut off, tainted **out-of-service**, storage that does not fence: the same within seconds',
      words: ['corrupt'],
      fits: all(cutOff, remedy('out-of-service'), disk('unfenced'), unchanged('untaintAt')),
      run: 'samples/partition-out-of-service',
    },
    {
      says: 'cut off, its **Node object deleted**, storage that does not fence',
      words: ['corrupt'],
      fits: all(cutOff, remedy('delete-node'), disk('unfenced')),
      run: 'samples/partition-delete-node',
    },
    {
      says: '**frozen**, pod deleted by force, thawed after the hand-over, storage that does not fence',
      words: ['corrupt'],
      fits: all(frozen, remedy('force-delete'), disk('unfenced')),
      run: 'samples/zombie',
    },
  ],
  'The node lives, and nobody acts': [
    {
      says: 'cut off: the evicted pod keeps its volume, no second mount in 15 minutes',
      words: ['safe'],
      fits: all(cutOff, remedy('none'), leftAlone),
      run: 'samples/partition-none',
    },
    {
      says: 'cut off, `terminationGracePeriodSeconds: 0`: eviction itself is a deletion by force',
      words: ['corrupt'],
      fits: all(cutOff, remedy('none'), field('terminationGraceS', 0)),
      run: 'samples/partition-no-grace-period',
    },
    {
      says: 'cut off while the container waits in a crash loop, made by a Deployment: eviction is enough',
      words: ['corrupt'],
      fits: all(cutOff, remedy('none'), field('serverKills', 2)),
    },
  ],
  'What the storage decides (the node lives)': [
    {
      says: 'storage that cuts the old node off **before it answers** the detach; pod deleted by force or node tainted',
      words: ['safe'],
      fits: all(cutOff, disk('fenced'), unchanged('accessMode')),
      run: 'samples/partition-force-delete-fenced',
    },
    {
      says: 'the same, declared **ReadWriteMany**: the second mount comes before the detach',
      words: ['corrupt'],
      fits: all(cutOff, disk('fenced'), field('accessMode', 'ReadWriteMany')),
    },
    {
      says: 'a fence that hangs on the out-of-service taint, and the taint is set',
      words: ['safe'],
      fits: all(cutOff, disk('fence-if-out-of-service'), remedy('out-of-service')),
    },
    {
      says: 'the same fence, and somebody **only deletes the pod by force**',
      words: ['corrupt'],
      fits: all(cutOff, disk('fence-if-out-of-service'), remedy('force-delete')),
    },
    {
      says: 'storage that **answers early** and cuts 10 s later: two could write',
      words: ['exposed', 'lost', 'corrupt'],
      fits: all(cutOff, disk('ack-early'), unchanged('cutAfterMs')),
    },
    {
      says: 'the same, and it cuts 3 s later: both could write for one to two seconds',
      words: ['lost', 'corrupt'],
      fits: all(cutOff, disk('ack-early'), field('cutAfterMs', 3000)),
    },
    {
      says: 'the same, and it cuts 1 s later: before the next node writes',
      words: ['safe'],
      fits: all(cutOff, disk('ack-early'), field('cutAfterMs', 1000)),
    },
    {
      says: 'storage that does not fence, and the old node’s **storage link answers with errors**: both could write for seconds, and nothing was damaged',
      words: ['exposed'],
      fits: all(cutOff, disk('unfenced'), field('link', 'errors')),
    },
    {
      says: 'a detach that waits until the node lets go: nothing lost, nobody served',
      words: ['safe'],
      fits: all(cutOff, disk('pending-while-busy')),
    },
    {
      says: 'the next node waits for the last watcher, and the old node reaches the storage',
      words: ['safe'],
      fits: all(cutOff, disk('exclusive'), unchanged('link')),
    },
    {
      says: 'the same, and the old node’s **storage link stalls**: it is taken for dead, its held writes arrive later',
      words: ['corrupt'],
      fits: all(cutOff, disk('exclusive'), field('link', 'stalls')),
    },
    {
      says: 'the next node takes a reservation',
      words: ['safe'],
      fits: all(cutOff, disk('reservation')),
    },
    {
      says: 'a shared directory with one lock table: MySQL’s file lock keeps the second one out',
      words: ['safe'],
      fits: all(cutOff, disk('shared-file'), unchanged('fileLocks')),
    },
    {
      says: 'a shared directory, each node with locks of its own',
      words: ['corrupt'],
      fits: all(cutOff, disk('shared-file'), field('fileLocks', 'local')),
    },
  ],
  'The node is dead': [
    {
      says: 'a crash, stock MySQL: every acknowledged commit is there',
      words: ['safe'],
      fits: all(crashed, disk('unfenced'), unchanged('trxCommit', 'flushes')),
      run: 'samples/node-crash',
    },
    {
      says: 'a crash, `innodb_flush_log_at_trx_commit=2`: the last commits are gone, and nothing tells',
      words: ['lost'],
      fits: all(crashed, field('trxCommit', 2)),
      run: 'samples/node-crash-trx-commit-2',
    },
    {
      says: 'a crash, on a disk that ignores flushes',
      words: ['corrupt'],
      fits: all(crashed, field('flushes', 'ignored')),
    },
  ],
};
