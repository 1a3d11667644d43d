/** One cell by whole runs and by plays of a sweep: what each came to, and where the two differ. */
import { combined } from '../../lib/scenario/index.ts';
import { contradictions } from '../../lib/scenario/contradictions.ts';
import type { Scenario } from '../../lib/scenario/scenario.ts';
import type { Safety } from '../../lib/judge/verdict/verdict.ts';
import { diskModes, type DiskMode } from '../../lib/scenario/disks/index.ts';
import { faultKinds } from '../../lib/scenario/faults/index.ts';
import { remedyKinds } from '../../lib/scenario/remedies/index.ts';
import { judge } from '../../lib/sweep/judge.ts';
import { play } from '../../lib/sweep/play.ts';
import { playOnce } from '../property/play-once.ts';
import { modelScenario, shortTimers } from './model-run.ts';

/** What differs from few plays is held against many: a seldom outcome may not be among the few. */
const fewPlays = 50;
const manyPlays = 400;
/** A run may miss what a play shows so seldom, by chance. */
const missedByChance = 1 / 1000;
/** The runner's commands and looks take this long; tails of a distribution may be as long. */
const slackS = 5;

/** Every fault, remedy and disk that fit together. */
export const cells: readonly Scenario[] = faultKinds.flatMap((fault) =>
  remedyKinds.flatMap((remedy) => diskModes.flatMap((disk) => cellOf(fault, remedy, disk))),
);

/** Each fault with each remedy, on one disk; the disks take turns. */
export const coveringCells: readonly Scenario[] = faultKinds.flatMap((fault, f) =>
  remedyKinds.flatMap((remedy, r) => {
    const first = (f + r) % diskModes.length;
    const turned = [...diskModes.slice(first), ...diskModes.slice(0, first)];
    return turned.flatMap((disk) => cellOf(fault, remedy, disk)).slice(0, 1);
  }),
);

function cellOf(
  fault: Scenario['fault']['kind'],
  remedy: Scenario['remedy']['kind'],
  disk: DiskMode,
): readonly Scenario[] {
  const scenario = combined(
    modelScenario({ ...shortTimers, fault: { kind: fault } }),
    {
      remedy: { kind: remedy },
      disk: { mode: disk },
      workload: { finalizer: remedy === 'strip-pod-finalizer' },
    },
    fault === 'none' ? { remedy: { at: 0 } } : {},
    fault === 'flapping-partition' ? { fault: { down: 30_000, up: 10_000 } } : {},
  );
  return contradictions(scenario).length === 0 ? [scenario] : [];
}

export const nameOf = ({ fault, remedy, disk }: Scenario): string =>
  `${fault.kind}, ${remedy.kind}, ${disk.mode}`;

interface Came {
  /** What became of the data, whether another node mounted it, and whether somebody serves. */
  readonly word: string;
  /** Since the fault. */
  readonly secondMountS: number | undefined;
}

/** How long two writers take to break a tree is drawn: lost and corrupt are one. */
const harmOf = (safety: Safety): string =>
  safety === 'lost' || safety === 'corrupt' ? 'damaged' : safety;

const cameOf = (safety: Safety, secondMountS: number | undefined, serves: boolean): Came => ({
  word: [
    harmOf(safety),
    secondMountS === undefined ? 'no second mount' : 'a second mount',
    serves ? 'serves again' : 'serves no more',
  ].join(', '),
  secondMountS,
});

function played(scenario: Scenario, seed: string): Came {
  const outcome = play(scenario, seed);
  const { secondMountUs, converged } = outcome;
  const secondMountS = secondMountUs === undefined ? undefined : secondMountUs / 1e6;
  return cameOf(judge(outcome).safety, secondMountS, converged);
}

async function ran(scenario: Scenario, seed: string): Promise<Came> {
  const { safety, phases, availability } = (await playOnce(scenario, seed)).verdict;
  return cameOf(safety, phases.secondMount ?? undefined, availability.recovered);
}

/** A sentence for each difference that is none of chance; `runs`: whole runs, each of its own seed. */
export async function differences(scenario: Scenario, runs: number): Promise<string[]> {
  const runner: Came[] = [];
  for (let seed = 0; seed < runs; seed++) runner.push(await ran(scenario, `${seed}`));
  const of = (plays: number): string[] =>
    differing(
      runner,
      Array.from({ length: plays }, (_, seed) => played(scenario, `${seed}`)),
    );
  return of(fewPlays).length === 0 ? [] : of(manyPlays);
}

function differing(runner: readonly Came[], player: readonly Came[]): string[] {
  const times = player.flatMap(({ secondMountS }) => secondMountS ?? []);
  const [soonestS, latestS] = [Math.min(...times) - slackS, Math.max(...times) + slackS];
  const shareOf = (came: readonly Came[], word: string): number =>
    came.filter((each) => each.word === word).length / came.length;
  const words = [...new Set(player.map(({ word }) => word))];
  return [
    ...runner
      .filter(({ word }) => shareOf(player, word) === 0)
      .map(({ word }) => `only the runner says: ${word}`),
    ...words
      .filter((word) => shareOf(runner, word) === 0)
      .filter((word) => (1 - shareOf(player, word)) ** runner.length < missedByChance)
      .map((word) => `only the player says: ${word}`),
    ...runner
      .flatMap(({ secondMountS }) => secondMountS ?? [])
      .filter((atS) => times.length > 0 && (atS < soonestS || atS > latestS))
      .map((atS) => `a second mount at ${atS} s, the player’s at ${soonestS} to ${latestS} s`),
  ];
}
