/** What the project found, as sentences that fault events of the store can be counted for. */
import { diskModes, isDirectory } from '../../lib/scenario/disks/index.ts';
import type { VerdictWord } from '../../lib/judge/verdict/verdict.ts';
import type { Values } from '../../lib/batch/counted.ts';

export interface PublishedFinding {
  readonly says: string;
  readonly words: readonly VerdictWord[];
  /** What the runs had that count for it; all else was stock. */
  readonly when: Values;
  /** Fields that may be whatever they are. Default: none. */
  readonly any?: readonly string[];
  /** A sample with stock timers, below reports/. */
  readonly run?: string;
}

const cutOff = { 'fault.kind': 'network-partition' } as const;
const crashed = { 'fault.kind': 'node-crash' } as const;
const forced = { 'remedy.kind': 'force-delete' } as const;
const tainted = { 'remedy.kind': 'out-of-service' } as const;
const vendors = { 'remedy.kind': 'delete-attachment-and-pod' } as const;
const shutDown = { 'fault.kind': 'node-shutdown' } as const;
/** The node lives, and Kubernetes takes it for lost. */
const livingFaults = ['network-partition', 'freeze', 'shutdown-hang'] as const;
const unfenced = { 'disk.mode': 'unfenced' } as const;
/** Nothing is attached on a shared directory, so nothing keeps a replacement out. */
const attachable = diskModes.filter((mode) => !isDirectory(mode));
const acted = { 'remedy.kind': ['force-delete', 'out-of-service', 'delete-node'] } as const;

export const findings: Readonly<Record<string, readonly PublishedFinding[]>> = {
  'The node still runs, and a person or an operator acts': [
    {
      says: 'cut off, its pod **force-deleted**, storage does not fence: after six minutes a second node mounts it too',
      words: ['corrupt'],
      when: { ...cutOff, ...forced, ...unfenced },
      run: 'samples/partition-force-delete-unfenced',
    },
    {
      says: 'cut off, tainted **out-of-service**, storage does not fence: the same within seconds',
      words: ['corrupt'],
      when: { ...cutOff, ...tainted, ...unfenced },
      run: 'samples/partition-out-of-service',
    },
    {
      says: 'cut off, its **Node object deleted**, storage does not fence',
      words: ['corrupt'],
      when: { ...cutOff, 'remedy.kind': 'delete-node', ...unfenced },
    },
    {
      says: '**frozen**, its pod force-deleted, thawed after the hand-over, storage does not fence',
      words: ['corrupt'],
      when: { 'fault.kind': 'freeze', ...forced, ...unfenced },
      run: 'samples/zombie',
    },
    {
      says: 'cut off, or its kubelet silent, with an **idle** database, storage does not fence: no client writes, but the server does',
      words: ['corrupt'],
      when: {
        'fault.kind': ['network-partition', 'kubelet-stall'],
        ...acted,
        ...unfenced,
        'load.rate': 0,
      },
      any: ['fault.link'],
    },
    {
      says: 'frozen until after the hand-over, with an **idle** database: no damage',
      words: ['exposed'],
      when: { 'fault.kind': 'freeze', ...acted, ...unfenced, 'load.rate': 0 },
    },
  ],
  'The node still runs, and nobody acts': [
    {
      says: 'cut off: the evicted pod keeps its volume, no second mount in 15 minutes',
      words: ['safe'],
      when: { ...cutOff, 'remedy.kind': 'none', 'disk.mode': attachable },
      any: ['workload.kind'],
    },
    {
      says: 'cut off, a Deployment with a **ReadWriteMany** volume: the replacement pod mounts at the eviction',
      words: ['corrupt'],
      when: {
        ...{ ...cutOff, 'remedy.kind': 'none', ...unfenced },
        ...{ 'volume.accessMode': 'ReadWriteMany', 'workload.kind': 'deployment-recreate' },
      },
    },
    {
      says: 'cut off, a Deployment on a shared directory: the replacement pod mounts too, and MySQL’s file lock stops its server',
      words: ['safe'],
      when: {
        ...{ ...cutOff, 'remedy.kind': 'none', 'disk.mode': 'shared-file' },
        'workload.kind': 'deployment-recreate',
      },
    },
    {
      says: 'cut off, `terminationGracePeriodSeconds: 0`: the eviction is a forced deletion',
      words: ['corrupt'],
      when: { ...cutOff, 'remedy.kind': 'none', 'workload.terminationGrace': 0 },
      any: ['workload.kind'],
    },
    {
      says: 'cut off, a Deployment whose container is in a crash loop: the eviction is enough',
      words: ['corrupt'],
      when: {
        ...cutOff,
        'remedy.kind': 'none',
        'fault.serverKills': 2,
        'workload.kind': 'deployment-recreate',
      },
    },
  ],
  'What the storage decides (the node still runs)': [
    {
      says: 'storage cuts the old node off **before it answers** the detach; pod force-deleted, node tainted or Node object deleted',
      words: ['safe'],
      when: { ...cutOff, ...acted, 'disk.mode': 'fenced' },
      any: ['fault.link', 'volume.filesystem', 'also.kind', 'also.at'],
      run: 'samples/partition-force-delete-fenced',
    },
    {
      says: 'the same with a **ReadWriteMany** volume: the second mount comes before the detach',
      words: ['corrupt'],
      when: { ...cutOff, ...acted, 'disk.mode': 'fenced', 'volume.accessMode': 'ReadWriteMany' },
    },
    {
      says: 'storage fences only under the out-of-service taint; the taint is set',
      words: ['safe'],
      when: { ...cutOff, ...tainted, 'disk.mode': 'fence-if-out-of-service' },
    },
    {
      says: 'the same storage; the pod is **only force-deleted**',
      words: ['corrupt'],
      when: { ...cutOff, ...forced, 'disk.mode': 'fence-if-out-of-service' },
    },
    {
      says: 'storage **answers early** and cuts the old node off 10 s later: both could write',
      words: ['exposed', 'lost', 'corrupt'],
      when: { ...cutOff, ...acted, 'disk.mode': 'ack-early' },
    },
    {
      says: 'the same, 3 s later: both could write for one to two seconds, unless the next mount takes longer',
      words: ['lost', 'corrupt'],
      when: { ...cutOff, ...acted, 'disk.mode': 'ack-early', 'disk.cutAfter': 3000 },
    },
    {
      says: 'the same, 1 s later: before the next node writes',
      words: ['safe'],
      when: { ...cutOff, ...acted, 'disk.mode': 'ack-early', 'disk.cutAfter': 1000 },
    },
    {
      says: 'storage does not fence, and the old node’s **storage link returns errors**: both could write for seconds, no damage',
      words: ['exposed'],
      when: { ...cutOff, ...acted, ...unfenced, 'fault.link': 'errors' },
    },
    {
      says: 'storage refuses the detach until the old node lets go: nothing is lost, and no new server starts',
      words: ['safe'],
      when: { ...cutOff, ...acted, 'disk.mode': 'pending-while-busy' },
    },
    {
      says: 'the next node waits for the last watcher; the old node reaches the storage',
      words: ['safe'],
      when: { ...cutOff, ...acted, 'disk.mode': 'exclusive' },
    },
    {
      says: 'the same, but the old node’s **storage link stalls**: it counts as gone, and its held writes arrive later',
      words: ['corrupt'],
      when: { ...cutOff, ...acted, 'disk.mode': 'exclusive', 'fault.link': 'stalls' },
    },
    {
      says: 'the next node takes a reservation',
      words: ['safe'],
      when: { ...cutOff, ...acted, 'disk.mode': 'reservation' },
    },
    {
      says: 'a shared directory with one lock table: MySQL’s file lock stops the second server',
      words: ['safe'],
      when: { ...cutOff, ...acted, 'disk.mode': 'shared-file' },
    },
    {
      says: 'a shared directory with separate locks on each node',
      words: ['corrupt'],
      when: { ...cutOff, ...acted, 'disk.mode': 'shared-file', 'disk.fileLocks': 'local' },
    },
  ],
  'The node is dead': [
    {
      says: 'a crash, default MySQL: every acknowledged commit is there',
      words: ['safe'],
      when: { ...crashed, ...unfenced },
      any: ['remedy.kind', 'fault.powerLoss', 'volume.filesystem'],
      run: 'samples/node-crash',
    },
    {
      says: 'a crash, `innodb_flush_log_at_trx_commit=2`: the last commits are gone, without any error',
      words: ['lost'],
      when: { ...crashed, ...unfenced, 'database.trxCommit': 2 },
      any: ['remedy.kind'],
      run: 'samples/node-crash-trx-commit-2',
    },
    {
      says: 'a crash, on a disk that ignores flushes',
      words: ['corrupt'],
      when: { ...crashed, ...unfenced, 'disk.flushes': 'ignored' },
      any: ['remedy.kind', 'fault.powerLoss'],
    },
  ],
};

/** How nodes end otherwise, and who gives their volumes away: a page of its own. */
export const departures: readonly PublishedFinding[] = [
  {
    says: 'its **kubelet stands still**, the database runs on; its pod force-deleted, storage does not fence',
    words: ['corrupt'],
    when: { 'fault.kind': 'kubelet-stall', ...forced, ...unfenced },
  },
  {
    says: 'cut off from the **API server alone**, its pod force-deleted, storage does not fence',
    words: ['corrupt'],
    when: { 'fault.kind': 'api-partition', ...forced, ...unfenced },
  },
  {
    says: 'cut off, then its pod force-deleted; the **controller manager is restarted** in the wait, which begins again: a second mount after fifteen minutes',
    words: ['corrupt'],
    when: { ...cutOff, ...forced, ...unfenced, 'also.kind': 'controller-restart' },
  },
  {
    says: 'cut off, then its pod force-deleted; the storage **refuses to detach, and grants** a second attach',
    words: ['corrupt'],
    when: {
      ...cutOff,
      ...forced,
      'disk.mode': 'pending-while-busy',
      'disk.attachWhileBusy': 'granted',
    },
  },
  {
    says: 'cut off, then its pod force-deleted; after the heal the volume **comes back** to the first node, which still has its old mount',
    words: ['corrupt'],
    when: {
      ...{ ...cutOff, ...forced, ...unfenced },
      ...{ 'remedy.moveBack': true, 'workload.preStop': 20_000 },
    },
  },
  {
    says: 'it **reboots**, within the grace period or after it, and nobody acts',
    words: ['safe'],
    when: { 'fault.kind': 'node-reboot', 'remedy.kind': 'none', ...unfenced },
    any: ['fault.rebootAt'],
  },
  {
    says: 'it **starves** of CPU time, and nobody acts',
    words: ['safe'],
    when: { 'fault.kind': 'cpu-starvation', 'remedy.kind': 'none', ...unfenced },
  },
  {
    says: 'a **healthy node** is tainted out-of-service: its pod ends in order, and goes elsewhere',
    words: ['safe'],
    when: { 'fault.kind': 'none', ...tainted, ...unfenced, 'remedy.at': 0 },
  },
  {
    says: 'its **shutdown hangs**, the database runs on; its pod force-deleted, storage does not fence',
    words: ['corrupt'],
    when: { 'fault.kind': 'shutdown-hang', ...forced, ...unfenced },
  },
  {
    says: 'cut off, frozen or in a hanging shutdown: its **VolumeAttachment and its pod are deleted**, as storage vendors’ health monitors do',
    words: ['corrupt'],
    when: { 'fault.kind': livingFaults, ...vendors, ...unfenced },
    any: ['remedy.at'],
  },
  {
    says: 'the same, and the node is dead',
    words: ['safe'],
    when: { ...crashed, ...vendors, ...unfenced },
    any: ['remedy.at'],
  },
  {
    says: 'cut off, frozen or in a hanging shutdown: **switched off first**, then tainted',
    words: ['safe'],
    when: { 'fault.kind': livingFaults, 'remedy.kind': 'power-off-and-taint', ...unfenced },
    any: ['remedy.at'],
  },
  {
    says: 'cut off, frozen or in a hanging shutdown: its **machine is deleted**, then its Node object',
    words: ['safe'],
    when: { 'fault.kind': livingFaults, 'remedy.kind': 'delete-machine', ...unfenced },
    any: ['remedy.at'],
  },
  {
    says: '**shut down**, and its kubelet ends no pods (the default); nobody acts: no second mount in 14 minutes',
    words: ['safe'],
    when: { ...shutDown, 'remedy.kind': 'none', ...unfenced },
  },
  {
    says: 'the same, its pod force-deleted: a second mount after the six minutes',
    words: ['safe'],
    when: { ...shutDown, ...forced, ...unfenced },
  },
  {
    says: 'shut down, its **kubelet ends its pods first** (`shutdownGracePeriod`): a second mount six minutes later',
    words: ['safe'],
    when: { ...shutDown, 'remedy.kind': 'none', ...unfenced, 'fault.shutdownGrace': 30_000 },
    any: ['fault.driverEnds'],
  },
];
