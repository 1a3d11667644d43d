/**
 * Which verdicts are no surprise, and why: one row a reason, the first that fits holds. Predicted
 * from Kubernetes' source and from MySQL on such disks; real runs are held against it
 * (test/full/disk-modes.test.ts, docs/disk-modes.md).
 */
import { controlPlaneFaults, losesPower } from '../fault-kinds.ts';
import type { Scenario } from './scenario.ts';
import type { VerdictWord } from './verdict.ts';

/** A scenario by what decides its outcome. */
export interface Situation
  extends Pick<
    Scenario,
    | 'fault'
    | 'remedy'
    | 'disk'
    | 'watcherCheck'
    | 'attachWhileBusy'
    | 'fileLocks'
    | 'link'
    | 'filesystem'
    | 'accessMode'
    | 'flushes'
    | 'powerLoss'
    | 'trxCommit'
  > {
  /** An idle victim has few writes under way, and may do no harm. */
  readonly victim: 'busy' | 'idle';
  /** When `ack-early` cuts: before a successor can mount, before the heal, or later. */
  readonly cut: 'at once' | 'before the heal' | 'late';
}

interface Row {
  /** Each factor named has one of these values. */
  readonly when: { readonly [F in keyof Situation]?: readonly Situation[F][] };
  readonly verdicts: readonly VerdictWord[];
  readonly because: string;
}

const damaged = ['lost', 'corrupt'] as const;
const overlapping = ['exposed', 'lost', 'corrupt'] as const;

/** The node is dead at once: only what it had not given to the disk, or the disk lost, can be gone. */
const crashRows: readonly Row[] = [
  {
    when: { flushes: ['ignored'], powerLoss: ['drops', 'reorders', 'tears'] },
    verdicts: damaged,
    because: 'the disk acknowledged flushes and lost what they were to make durable',
  },
  {
    when: { trxCommit: [0, 2], victim: ['busy'], powerLoss: ['tears'] },
    verdicts: damaged,
    because: 'MySQL acknowledges before the log is on disk, and a page may be torn',
  },
  {
    when: { trxCommit: [0, 2], victim: ['busy'] },
    verdicts: ['lost'],
    because: 'MySQL acknowledges before the log is on disk: a crash takes the tail',
  },
  {
    when: { powerLoss: ['tears'] },
    verdicts: ['safe', 'corrupt'],
    because:
      'with O_DIRECT, its default, InnoDB does not flush the doublewrite copy before it writes ' +
      'the page (Double_write::is_fsync_required): both may be lost together',
  },
  {
    when: {},
    verdicts: ['safe'],
    because: 'an acknowledged commit was flushed, and a dead node writes no more',
  },
];

/** The node lives on: what the successor gets, and whether the victim's writes still arrive. */
const partitionRows: readonly Row[] = [
  {
    when: { remedy: ['none'] },
    verdicts: ['safe'],
    because:
      'the Terminating pod keeps its attachment and its name: no second pod, no second mount',
  },
  {
    when: { fault: [...controlPlaneFaults, 'kubelet-restart'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the node is whole and unmounts, but the out-of-service taint does not wait until it has',
  },
  {
    when: { disk: ['shared-file'], fileLocks: ['shared'] },
    verdicts: ['safe'],
    because: 'nothing is attached, the successor mounts at once, and its mysqld waits for the lock',
  },
  {
    when: { disk: ['shared-file'] },
    verdicts: overlapping,
    because: 'each node has locks of its own: two mysqld open the same files',
  },
  {
    when: { disk: ['reservation'] },
    verdicts: ['safe'],
    because: 'the successor’s staging pre-empts the victim, and its held writes are refused',
  },
  {
    when: { disk: ['exclusive'], watcherCheck: ['missing'] },
    verdicts: ['safe'],
    because: 'without an answer about watchers the staging fails: no second mount, no service',
  },
  {
    when: { disk: ['exclusive'], link: ['survives'] },
    verdicts: ['safe'],
    because: 'the victim still watches the image: the staging is refused until it has unmounted',
  },
  {
    when: { disk: ['pending-while-busy'], attachWhileBusy: ['refused'] },
    verdicts: ['safe'],
    because: 'neither detach nor attach elsewhere is granted while the victim has it mounted',
  },
  {
    when: { disk: ['fence-if-out-of-service'], remedy: ['out-of-service'] },
    verdicts: ['safe'],
    because: 'the taint is there, so the detach cuts the victim off before it answers',
  },
  {
    when: { disk: ['fenced'], accessMode: ['ReadWriteOnce', 'ReadWriteOncePod'] },
    verdicts: ['safe'],
    because: 'the detach comes before the attach and cuts the victim off; held writes are refused',
  },
  {
    when: { disk: ['fenced'], remedy: ['out-of-service'] },
    verdicts: ['safe'],
    because: 'the detach does not wait, and cuts the victim off long before a mount is ready',
  },
  {
    when: {
      disk: ['ack-early'],
      accessMode: ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: ['at once'],
    },
    verdicts: ['safe'],
    because: 'the cut comes before the successor can have mounted',
  },
  {
    when: {
      disk: ['ack-early'],
      accessMode: ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: ['before the heal'],
      link: ['stalls', 'errors'],
    },
    verdicts: ['safe'],
    because: 'nothing of the victim arrives until it is cut off, and its held writes are refused',
  },
  {
    when: { fault: ['freeze'], filesystem: ['ext4-mmp'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a frozen container’s kernel still renews the multiple mount protection block; a machine ' +
      'that stands still does not',
  },
  {
    when: { fault: ['cpu-starvation'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a starved kubelet may be Ready and unmount in time, or be given up while its database writes',
  },
  {
    when: { fault: ['flapping-partition'] },
    verdicts: ['safe', ...overlapping],
    because:
      'a node that is Ready when the wait is over is left to unmount, one that is off is not',
  },
  {
    when: { filesystem: ['ext4-mmp'], link: ['survives'] },
    verdicts: ['safe'],
    because: 'the victim renews its multiple mount protection block: the second mount is refused',
  },
  {
    when: { link: ['errors'] },
    verdicts: overlapping,
    because:
      'the victim’s mysqld dies of I/O errors, yet its file system is still mounted when the path ' +
      'is healed: what it writes until its unmount decides',
  },
  {
    when: {
      disk: ['ack-early'],
      remedy: ['out-of-service'],
      cut: ['at once', 'before the heal'],
      link: ['survives'],
    },
    verdicts: ['safe', ...overlapping],
    because:
      'both write until the late cut, unless the new pod’s kubelet waits out its status period ' +
      'of 10 s before it mounts',
  },
  {
    when: { disk: ['ack-early'], cut: ['at once', 'before the heal'], link: ['survives'] },
    verdicts: overlapping,
    because: 'both write until the late cut',
  },
  {
    when: { victim: ['idle'] },
    verdicts: overlapping,
    because: 'both could write; an idle victim has few dirty pages, and may do no harm',
  },
  {
    when: { link: ['stalls'] },
    verdicts: damaged,
    because: 'the victim’s held writes are replayed over the successor’s at the heal',
  },
  {
    when: { accessMode: ['ReadWriteMany'] },
    verdicts: damaged,
    because: 'declared ReadWriteMany, the volume is attached elsewhere before it is detached',
  },
  {
    when: { fault: ['freeze'] },
    verdicts: damaged,
    because: 'thawed after the hand-over, the victim writes what it had in its caches',
  },
  { when: {}, verdicts: damaged, because: 'the victim writes on while the successor writes' },
];

/** A successor needs more than this from the detach's answer to its first write. */
const soonestMountMs = 500;

function situationOf(scenario: Scenario): Situation {
  const { cutAfterMs, overlapMs, rate } = scenario;
  const beforeHeal = cutAfterMs <= overlapMs ? 'before the heal' : 'late';
  return {
    ...scenario,
    victim: rate === 0 ? 'idle' : 'busy',
    cut: cutAfterMs <= soonestMountMs ? 'at once' : beforeHeal,
  };
}

const fits = ({ when }: Row, situation: Situation): boolean =>
  Object.entries(when).every(([factor, values]) =>
    (values as readonly unknown[]).includes(situation[factor as keyof Situation]),
  );

export interface Expectation {
  readonly verdicts: readonly VerdictWord[];
  readonly because: string;
}

export function expectationOf(scenario: Scenario): Expectation {
  const situation = situationOf(scenario);
  const rows = losesPower(scenario.fault) ? crashRows : partitionRows;
  const row = rows.find((each) => fits(each, situation));
  if (row === undefined) throw new Error('the last row fits everything');
  return row;
}

/** For experiment files. */
export const expectedVerdicts = (scenario: Scenario): readonly VerdictWord[] =>
  expectationOf(scenario).verdicts;
