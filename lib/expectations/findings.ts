/** What the project found, as sentences that fault events of the store can be counted for. */
import { diskModes, isDirectory } from '../disk-modes/index.ts';
import type { VerdictWord } from '../experiment/verdict/verdict.ts';
import type { Values } from './counts.ts';

export interface PublishedFinding {
  readonly says: string;
  readonly words: readonly VerdictWord[];
  /** What the runs had that count for it; all else was stock. */
  readonly when: Values;
  /** Fields that may be whatever they are. Default: none. */
  readonly any?: readonly string[];
  /** A committed one with stock timers, below reports/. */
  readonly run?: string;
}

const cutOff = { fault: 'network-partition' } as const;
const crashed = { fault: 'node-crash' } as const;
const forced = { remedy: 'force-delete' } as const;
const tainted = { remedy: 'out-of-service' } as const;
const unfenced = { disk: 'unfenced' } as const;
/** Nothing is attached on a shared directory, so nothing keeps a replacement out. */
const attachable = diskModes.filter((mode) => !isDirectory(mode));
const acted = { remedy: ['force-delete', 'out-of-service', 'delete-node'] } as const;

export const findings: Readonly<Record<string, readonly PublishedFinding[]>> = {
  'The node lives, and somebody acts': [
    {
      says: 'cut off, its pod **deleted by force**, storage that does not fence: the second node mounts beside the first, six minutes later',
      words: ['corrupt'],
      when: { ...cutOff, ...forced, ...unfenced },
      run: 'samples/partition-force-delete-unfenced',
    },
    {
      says: 'cut off, tainted **out-of-service**, storage that does not fence: the same within seconds',
      words: ['corrupt'],
      when: { ...cutOff, ...tainted, ...unfenced },
      run: 'samples/partition-out-of-service',
    },
    {
      says: 'cut off, its **Node object deleted**, storage that does not fence',
      words: ['corrupt'],
      when: { ...cutOff, remedy: 'delete-node', ...unfenced },
      run: 'samples/partition-delete-node',
    },
    {
      says: '**frozen**, pod deleted by force, thawed after the hand-over, storage that does not fence',
      words: ['corrupt'],
      when: { fault: 'freeze', ...forced, ...unfenced },
      run: 'samples/zombie',
    },
    {
      says: 'an **idle** database, its node cut off or its kubelet silent, storage that does not fence: no client writes, the server does',
      words: ['corrupt'],
      when: { fault: ['network-partition', 'kubelet-stall'], ...acted, ...unfenced, rate: 0 },
      any: ['link'],
    },
    {
      says: 'the same, **frozen** until after the hand-over: nothing was damaged',
      words: ['exposed'],
      when: { fault: 'freeze', ...acted, ...unfenced, rate: 0 },
    },
  ],
  'The node lives, and nobody acts': [
    {
      says: 'cut off: the evicted pod keeps its volume, no second mount in 15 minutes',
      words: ['safe'],
      when: { ...cutOff, remedy: 'none', disk: attachable },
      any: ['workload'],
      run: 'samples/partition-none',
    },
    {
      says: 'cut off, the volume declared **ReadWriteMany**, the pod made by a Deployment: the replacement mounts at the eviction',
      words: ['corrupt'],
      when: {
        ...{ ...cutOff, remedy: 'none', ...unfenced },
        ...{ accessMode: 'ReadWriteMany', workload: 'deployment-recreate' },
      },
    },
    {
      says: 'the same on a shared directory: it mounts as well, and MySQL’s file lock keeps it out',
      words: ['safe'],
      when: {
        ...{ ...cutOff, remedy: 'none', disk: 'shared-file' },
        workload: 'deployment-recreate',
      },
    },
    {
      says: 'cut off, `terminationGracePeriodSeconds: 0`: eviction itself is a deletion by force',
      words: ['corrupt'],
      when: { ...cutOff, remedy: 'none', terminationGraceS: 0 },
      any: ['workload'],
      run: 'samples/partition-no-grace-period',
    },
    {
      says: 'cut off while the container waits in a crash loop, made by a Deployment: eviction is enough',
      words: ['corrupt'],
      when: { ...cutOff, remedy: 'none', serverKills: 2, workload: 'deployment-recreate' },
    },
  ],
  'What the storage decides (the node lives)': [
    {
      says: 'storage that cuts the old node off **before it answers** the detach; pod deleted by force or node tainted',
      words: ['safe'],
      when: { ...cutOff, ...acted, disk: 'fenced' },
      any: ['link', 'filesystem', 'also', 'alsoAt'],
      run: 'samples/partition-force-delete-fenced',
    },
    {
      says: 'the same, declared **ReadWriteMany**: the second mount comes before the detach',
      words: ['corrupt'],
      when: { ...cutOff, ...acted, disk: 'fenced', accessMode: 'ReadWriteMany' },
    },
    {
      says: 'a fence that hangs on the out-of-service taint, and the taint is set',
      words: ['safe'],
      when: { ...cutOff, ...tainted, disk: 'fence-if-out-of-service' },
    },
    {
      says: 'the same fence, and somebody **only deletes the pod by force**',
      words: ['corrupt'],
      when: { ...cutOff, ...forced, disk: 'fence-if-out-of-service' },
    },
    {
      says: 'storage that **answers early** and cuts 10 s later: two could write',
      words: ['exposed', 'lost', 'corrupt'],
      when: { ...cutOff, ...acted, disk: 'ack-early' },
    },
    {
      says: 'the same, and it cuts 3 s later: both could write for one to two seconds',
      words: ['lost', 'corrupt'],
      when: { ...cutOff, ...acted, disk: 'ack-early', cutAfterMs: 3000 },
    },
    {
      says: 'the same, and it cuts 1 s later: before the next node writes',
      words: ['safe'],
      when: { ...cutOff, ...acted, disk: 'ack-early', cutAfterMs: 1000 },
    },
    {
      says: 'storage that does not fence, and the old node’s **storage link answers with errors**: both could write for seconds, and nothing was damaged',
      words: ['exposed'],
      when: { ...cutOff, ...acted, ...unfenced, link: 'errors' },
    },
    {
      says: 'a detach that waits until the node lets go: nothing lost, nobody served',
      words: ['safe'],
      when: { ...cutOff, ...acted, disk: 'pending-while-busy' },
    },
    {
      says: 'the next node waits for the last watcher, and the old node reaches the storage',
      words: ['safe'],
      when: { ...cutOff, ...acted, disk: 'exclusive' },
    },
    {
      says: 'the same, and the old node’s **storage link stalls**: it is taken for dead, its held writes arrive later',
      words: ['corrupt'],
      when: { ...cutOff, ...acted, disk: 'exclusive', link: 'stalls' },
    },
    {
      says: 'the next node takes a reservation',
      words: ['safe'],
      when: { ...cutOff, ...acted, disk: 'reservation' },
    },
    {
      says: 'a shared directory with one lock table: MySQL’s file lock keeps the second one out',
      words: ['safe'],
      when: { ...cutOff, ...acted, disk: 'shared-file' },
    },
    {
      says: 'a shared directory, each node with locks of its own',
      words: ['corrupt'],
      when: { ...cutOff, ...acted, disk: 'shared-file', fileLocks: 'local' },
    },
  ],
  'The node is dead': [
    {
      says: 'a crash, stock MySQL: every acknowledged commit is there',
      words: ['safe'],
      when: { ...crashed, ...unfenced },
      any: ['remedy', 'powerLoss', 'filesystem'],
      run: 'samples/node-crash',
    },
    {
      says: 'a crash, `innodb_flush_log_at_trx_commit=2`: the last commits are gone, and nothing tells',
      words: ['lost'],
      when: { ...crashed, ...unfenced, trxCommit: 2 },
      any: ['remedy'],
      run: 'samples/node-crash-trx-commit-2',
    },
    {
      says: 'a crash, on a disk that ignores flushes',
      words: ['corrupt'],
      when: { ...crashed, ...unfenced, flushes: 'ignored' },
      any: ['remedy', 'powerLoss'],
    },
  ],
};
