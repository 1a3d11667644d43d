/**
 * The cases: what happens to the victim, when the successor takes over, and how both end. One
 * schedule serves all hosts. Nothing in it goes by the clock: each step waits for commits, for a
 * server's death or for a path that the array saw fall quiet, so that a slow machine plays the same
 * case as a fast one.
 */
import type { ImageLabel } from '../../lib/history/index.ts';
import type { NodeName } from './host.ts';
import type { LabSide } from './side.ts';

/** What a schedule is made of: what each side does next, and the images of the volume. */
export interface LabStage extends Readonly<Record<NodeName, LabSide>> {
  /** Copies the volume while those that may still write it are paused. */
  readonly image: (label: ImageLabel, paused?: readonly LabSide[]) => Promise<void>;
}

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
  /** See a scenario's. Default 1. */
  readonly trxCommit?: 0 | 1 | 2;
  readonly run: (stage: LabStage) => Promise<void>;
}

const fast = { connections: 4, rate: 100 } as const;
/** The moment decides nothing: the hosts must agree on how bad it is. */
const settled = { compare: 'outcome', ...fast } as const;
/** Commits before the fault, and of each turn after it. */
const load = 300;
const turn = 150;

/** The victim has written all it had when its successor comes, and is idle beside it. */
const settledVictim =
  (end: 'kill' | 'stop'): Case['run'] =>
  async ({ victim, successor, image }) => {
    await victim.start();
    await victim.commits(load);
    await victim.settle();
    await successor.takeOver();
    await successor.commits(turn);
    await image('first', [victim, successor]);
    await successor.settle();
    await victim.stop();
    await successor[end]();
    await image('second');
  };

/** The victim still has pages to write when it is held; it writes them beside its successor. */
async function dirtyVictim({ victim, successor, image }: LabStage): Promise<void> {
  await victim.start();
  await victim.commits(load, 'and goes on');
  await victim.hold();
  await victim.client.pause();
  await successor.takeOver();
  await successor.commits(turn);
  await successor.settle();
  await image('first', [successor]);
  await victim.release();
  await victim.settle();
  await victim.kill();
  await successor.kill();
  await image('second');
}

/** Both write, one after the other, and each to its last page: two writers without a race. */
async function turns({ victim, successor, image }: LabStage): Promise<void> {
  await victim.start();
  await victim.commits(load);
  await victim.settle();
  await victim.hold();
  await successor.takeOver();
  await successor.commits(turn);
  await successor.settle();
  await successor.hold();
  await victim.release();
  await victim.commits(turn);
  await victim.settle();
  await image('first', [victim]);
  await victim.stop();
  await successor.release();
  await successor.kill();
  await image('second');
}

/**
 * The victim writes all the time, also beside its successor. There is no second image: what the heal
 * leaves depends on who of the two still lives, and that is the race.
 */
async function writingVictim({ victim, successor, image }: LabStage): Promise<void> {
  await victim.start();
  await victim.commits(load, 'and goes on');
  await successor.takeOver();
  await successor.commits(turn, 'and goes on');
  await image('first', [victim, successor]);
}

/** The victim stops in the middle of its work, and goes on when its successor has served and gone. */
async function zombie({ victim, successor, image }: LabStage): Promise<void> {
  await victim.start();
  await victim.commits(load, 'and goes on');
  await victim.hold();
  await successor.takeOver();
  await successor.commits(turn);
  await successor.stop();
  await image('first');
  await victim.release();
  await victim.commits(turn);
  await victim.stop();
  await image('second');
}

/** The array cuts the victim off while it writes; then the successor takes over. */
async function fenced({ victim, successor, image }: LabStage): Promise<void> {
  await victim.start();
  await victim.commits(load, 'and goes on');
  await victim.cut();
  await successor.takeOver();
  await successor.commits(turn);
  await image('first', [successor]);
  await victim.stop();
  await successor.kill();
  await image('second');
}

/** The victim loses its power while it writes, and with it what it had not flushed. */
async function crash({ victim, successor, image }: LabStage): Promise<void> {
  await victim.start();
  await victim.commits(load, 'and goes on');
  await victim.losePower();
  await successor.takeOver();
  await successor.commits(turn);
  await successor.kill();
  await image('second');
}

export const cases = {
  'idle-kill': {
    what: 'idle victim with nothing left to write; it stops cleanly beside its successor, whose server is then killed',
    ...settled,
    run: settledVictim('kill'),
  },
  'idle-stop': {
    what: 'the same, but the successor, too, stops cleanly',
    ...settled,
    run: settledVictim('stop'),
  },
  'idle-dirty': {
    what: 'idle victim with pages left to write, held while its successor serves; then it writes them; both are killed',
    ...settled,
    run: dirtyVictim,
  },
  turns: {
    what: 'both write, by turns; then the victim stops cleanly and its successor is killed',
    ...settled,
    run: turns,
  },
  writing: { what: 'both write at once', compare: 'damage', ...fast, run: writingVictim },
  'writing-slow': {
    what: 'both write at once, 25 commits/s',
    ...{ compare: 'damage', ...fast, rate: 25 },
    run: writingVictim,
  },
  zombie: {
    what: 'writing victim, held while its successor serves and stops; then it goes on',
    ...settled,
    run: zombie,
  },
  fenced: { what: 'victim cut off while it writes', ...settled, run: fenced },
  crash: { what: 'victim loses power', ...settled, run: crash },
  'crash-trx2': {
    what: 'victim loses power, trx_commit=2',
    ...{ ...settled, trxCommit: 2, run: crash },
  },
} as const satisfies Readonly<Record<string, Case>>;

export type CaseName = keyof typeof cases;
export const caseNames = Object.keys(cases) as CaseName[];
