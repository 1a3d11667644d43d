/**
 * The cases: what happens to the victim, when the successor takes over, and how both end. One
 * schedule serves both hosts. Times are the same on both, and rates low enough for an emulated
 * machine: how fast the clients write decides what is seen (docs/two-kernels.md).
 */
import type { Stage } from './stage.ts';

export const filesystems = ['ext4', 'xfs'] as const;
export type Filesystem = (typeof filesystems)[number];

export interface Case {
  /** What happens, one line for the table. */
  readonly what: string;
  /** Connections of each side's client. */
  readonly connections: number;
  /** Commits per second of each side's client, all connections together. */
  readonly rate: number;
  /** innodb_flush_log_at_trx_commit. Default 1. */
  readonly trxCommit?: 0 | 1 | 2;
  readonly run: (stage: Stage) => Promise<void>;
}

const fast = { connections: 4, rate: 100 } as const;
const slow = { connections: 4, rate: 25 } as const;
const loadMs = 4_000;
const overlapMs = 5_000;
const moreMs = 2_000;

/** Loads the victim, leaves it alone, and lets the successor take over beside it. */
async function idleVictim(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.write(victim, loadMs);
  await victim.stopWriting();
  await stage.takeOver();
  await stage.write(successor, overlapMs);
  await stage.image('first', [victim, successor]);
}

/** The victim writes all the time, also beside its successor. */
async function writingVictim(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.write(victim, loadMs);
  await stage.takeOver();
  await stage.write(successor, overlapMs);
  await stage.image('first', [victim, successor]);
  await victim.stop();
  await stage.wait(moreMs);
  await successor.kill();
  await stage.image('second');
}

/** The victim stops in the middle of its work, and goes on when its successor has served and gone. */
async function zombie(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.write(victim, loadMs);
  await victim.pause();
  await stage.takeOver();
  await stage.write(successor, overlapMs);
  await successor.stop();
  await stage.image('first');
  await victim.resume();
  await stage.wait(moreMs);
  await victim.stop();
  await stage.image('second');
}

/** The array cuts the victim off while it writes; then the successor takes over. */
async function fenced(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.write(victim, loadMs);
  await victim.cut();
  await stage.takeOver();
  await stage.write(successor, overlapMs);
  await stage.image('first', [successor]);
  await victim.stop();
  await stage.wait(moreMs);
  await successor.kill();
  await stage.image('second');
}

/** The victim loses its power while it writes, and with it what it had not flushed. */
async function crash(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.write(victim, loadMs);
  await stage.losePower(victim);
  await stage.takeOver();
  await stage.write(successor, overlapMs);
  await successor.kill();
  await stage.image('second');
}

export const cases = {
  'idle-kill': {
    what: 'idle victim; it stops cleanly beside its successor, whose server is then killed',
    ...fast,
    async run(stage): Promise<void> {
      await idleVictim(stage);
      await stage.victim.stop();
      await stage.wait(moreMs);
      await stage.successor.kill();
      await stage.image('second');
    },
  },
  'idle-stop': {
    what: 'idle victim; it stops cleanly beside its successor, which then stops cleanly too',
    ...fast,
    async run(stage): Promise<void> {
      await idleVictim(stage);
      await stage.victim.stop();
      await stage.wait(moreMs);
      await stage.successor.stop();
      await stage.image('second');
    },
  },
  writing: { what: 'writing victim', ...fast, run: writingVictim },
  'writing-one': {
    what: 'writing victim, 1 connection',
    ...fast,
    connections: 1,
    run: writingVictim,
  },
  'writing-slow': { what: 'writing victim, 25 commits/s', ...slow, run: writingVictim },
  zombie: {
    what: 'victim paused while its successor serves and stops; then it goes on',
    ...fast,
    run: zombie,
  },
  fenced: { what: 'victim cut off while it writes', ...fast, run: fenced },
  crash: { what: 'victim loses power', ...fast, run: crash },
  'crash-trx2': {
    what: 'victim loses power, trx_commit=2',
    ...fast,
    trxCommit: 2,
    run: crash,
  },
} as const satisfies Readonly<Record<string, Case>>;

export type CaseName = keyof typeof cases;
export const caseNames = Object.keys(cases) as CaseName[];
