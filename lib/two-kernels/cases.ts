/**
 * The cases: what happens to the victim, when the successor takes over, and how both end. One
 * schedule serves all hosts. Nothing in it goes by the clock: each step waits for commits, for a
 * server's death or for a path that the array saw fall quiet, so that a slow machine plays the same
 * case as a fast one.
 */
import type { Stage } from './stage.ts';

export const filesystems = ['ext4', 'xfs'] as const;
export type Filesystem = (typeof filesystems)[number];

export interface Case {
  /** What happens, one line for the table. */
  readonly what: string;
  /**
   * What the hosts must agree on. `outcome`: how bad it is. `damage`: whether there is any; in a race
   * of two writers, the moment at which the successor reads decides between loss and corruption.
   */
  readonly compare: 'outcome' | 'damage';
  /** Connections of each side's client. */
  readonly connections: number;
  /** Commits per second of each side's client, all connections together; at most. */
  readonly rate: number;
  /** As a scenario's. Default 1. */
  readonly trxCommit?: 0 | 1 | 2;
  readonly run: (stage: Stage) => Promise<void>;
}

const fast = { connections: 4, rate: 100 } as const;
const slow = { connections: 4, rate: 25 } as const;
/** Commits before the fault, and of each turn after it. */
const load = 300;
const turn = 150;

/** The victim has written all it had when its successor comes, and is idle beside it. */
async function settledVictim(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.commits(victim, load);
  await stage.settle(victim);
  await stage.takeOver();
  await stage.commits(successor, turn);
  await stage.image('first', [victim, successor]);
  await stage.settle(successor);
  await stage.stop(victim);
}

/** The victim still has pages to write when it is held; it writes them beside its successor. */
async function dirtyVictim(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.commits(victim, load, 'and goes on');
  await stage.hold(victim);
  await victim.stopWriting();
  await stage.takeOver();
  await stage.commits(successor, turn);
  await stage.settle(successor);
  await stage.image('first', [successor]);
  await stage.release(victim);
  await stage.settle(victim);
  await stage.kill(victim);
  await stage.kill(successor);
  await stage.image('second');
}

/** Both write, one after the other, and each to its last page: two writers without a race. */
async function turns(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.commits(victim, load);
  await stage.settle(victim);
  await stage.hold(victim);
  await stage.takeOver();
  await stage.commits(successor, turn);
  await stage.settle(successor);
  await stage.hold(successor);
  await stage.release(victim);
  await stage.commits(victim, turn);
  await stage.settle(victim);
  await stage.image('first', [victim]);
  await stage.stop(victim);
  await stage.release(successor);
  await stage.kill(successor);
  await stage.image('second');
}

/**
 * The victim writes all the time, also beside its successor. There is no second image: what the heal
 * leaves depends on who of the two still lives, and that is the race.
 */
async function writingVictim(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.commits(victim, load, 'and goes on');
  await stage.takeOver();
  await stage.commits(successor, turn, 'and goes on');
  await stage.image('first', [victim, successor]);
}

/** The victim stops in the middle of its work, and goes on when its successor has served and gone. */
async function zombie(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.commits(victim, load, 'and goes on');
  await stage.hold(victim);
  await stage.takeOver();
  await stage.commits(successor, turn);
  await stage.stop(successor);
  await stage.image('first');
  await stage.release(victim);
  await stage.commits(victim, turn);
  await stage.stop(victim);
  await stage.image('second');
}

/** The array cuts the victim off while it writes; then the successor takes over. */
async function fenced(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.commits(victim, load, 'and goes on');
  await stage.cut(victim);
  await stage.takeOver();
  await stage.commits(successor, turn);
  await stage.image('first', [successor]);
  await stage.stop(victim);
  await stage.kill(successor);
  await stage.image('second');
}

/** The victim loses its power while it writes, and with it what it had not flushed. */
async function crash(stage: Stage): Promise<void> {
  const { victim, successor } = stage;
  await stage.serve(victim);
  await stage.commits(victim, load, 'and goes on');
  await stage.losePower(victim);
  await stage.takeOver();
  await stage.commits(successor, turn);
  await stage.kill(successor);
  await stage.image('second');
}

export const cases = {
  'idle-kill': {
    what: 'idle victim with nothing left to write; it stops cleanly beside its successor, whose server is then killed',
    compare: 'outcome',
    ...fast,
    async run(stage): Promise<void> {
      await settledVictim(stage);
      await stage.kill(stage.successor);
      await stage.image('second');
    },
  },
  'idle-stop': {
    what: 'the same, but the successor, too, stops cleanly',
    compare: 'outcome',
    ...fast,
    async run(stage): Promise<void> {
      await settledVictim(stage);
      await stage.stop(stage.successor);
      await stage.image('second');
    },
  },
  'idle-dirty': {
    what: 'idle victim with pages left to write, held while its successor serves; then it writes them; both are killed',
    compare: 'outcome',
    ...fast,
    run: dirtyVictim,
  },
  turns: {
    what: 'both write, by turns; then the victim stops cleanly and its successor is killed',
    compare: 'outcome',
    ...fast,
    run: turns,
  },
  writing: {
    what: 'both write at once',
    compare: 'damage',
    ...fast,
    run: writingVictim,
  },
  'writing-slow': {
    what: 'both write at once, 25 commits/s',
    compare: 'damage',
    ...slow,
    run: writingVictim,
  },
  zombie: {
    what: 'writing victim, held while its successor serves and stops; then it goes on',
    compare: 'outcome',
    ...fast,
    run: zombie,
  },
  fenced: {
    what: 'victim cut off while it writes',
    compare: 'outcome',
    ...fast,
    run: fenced,
  },
  crash: { what: 'victim loses power', compare: 'outcome', ...fast, run: crash },
  'crash-trx2': {
    what: 'victim loses power, trx_commit=2',
    compare: 'outcome',
    ...fast,
    trxCommit: 2,
    run: crash,
  },
} as const satisfies Readonly<Record<string, Case>>;

export type CaseName = keyof typeof cases;
export const caseNames = Object.keys(cases) as CaseName[];
