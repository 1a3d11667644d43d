/**
 * Shrinks a schedule: the fewest fields that differ from their defaults, events instead of times,
 * such that it still shows what it was found for.
 */
import { join } from 'node:path';
import { refusals, writtenPathOf, type Scenario } from '../scenario/index.ts';
import { typed, faultEvents, remedyEvents } from '../core/index.ts';
import { play, type ScheduleOutcome } from './play.ts';
import { changedFields, plainScenario, settle } from './settle.ts';
import { expectationOf, type Safety } from '../judge/index.ts';
import { judge, licenceOf } from './judge-schedule.ts';
import { scheduleText } from './schedule-file.ts';
import type { RankedFinding } from './rank.ts';
import type { SweepReport } from './report.ts';
import type { ScheduleExample } from './tally.ts';
import { knownPaths } from './paths.ts';

interface ShrinkOptions {
  readonly scenario: Scenario;
  readonly seed: string;
  /** Whether an outcome still shows it. */
  readonly shows: (outcome: ScheduleOutcome) => boolean;
}

interface Shrunk {
  readonly scenario: Scenario;
  readonly outcome: ScheduleOutcome;
  /** How many of so many other seeds show it as well: how much of it is chance. */
  readonly again: { readonly shown: number; readonly of: number };
}

/** Instead of a time: the first that still shows it. */
const simplerValues: Partial<Readonly<Record<keyof Scenario, readonly unknown[]>>> = {
  remedyAt: remedyEvents,
  alsoAt: faultEvents,
  rebootAt: ['force-detach'],
  untaintAt: ['heal', 'kept'],
  rate: [25],
  remedy: ['force-delete'],
  fault: ['network-partition'],
};
const otherSeeds = 20;

export function shrink({ scenario, seed, shows }: ShrinkOptions): Shrunk {
  let best = { scenario, outcome: play(scenario, seed) };
  const accepts = (candidate: Scenario): boolean => {
    if (isSame(candidate, best.scenario)) return false;
    const outcome = play(candidate, seed);
    if (!shows(outcome)) return false;
    best = { scenario: candidate, outcome };
    return true;
  };
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const field of changedFields(best.scenario)) {
      // What was simplified on the way may have gone with another field.
      if (accepts(settle({ ...best.scenario, [field]: plainScenario[field] }))) goesOn = true;
    }
  }
  for (const field of changedFields(best.scenario)) {
    const values = simplerValues[field] ?? [];
    if (values.includes(best.scenario[field])) continue;
    values.some((value) => accepts(settle({ ...best.scenario, [field]: value })));
  }
  return { ...best, again: playAgain(best.scenario, seed, shows) };
}

function playAgain(
  scenario: Scenario,
  seed: string,
  shows: ShrinkOptions['shows'],
): Shrunk['again'] {
  const seeds = Array.from({ length: otherSeeds }, (_, n) => `${seed}+${n + 1}`);
  const shown = seeds.filter((each) => shows(play(scenario, each))).length;
  return { shown, of: seeds.length };
}

const isSame = (a: Scenario, b: Scenario): boolean =>
  (Object.keys(a) as (keyof Scenario)[]).every((field) => a[field] === b[field]);

/** The findings of a sweep as schedule files: each shrunk, with what it shows and how surely. */
interface FoundFile {
  /** Without a folder. */
  readonly file: string;
  readonly text: string;
}

interface ToShrink {
  readonly name: string;
  readonly title: string;
  readonly example: ScheduleExample;
  readonly shows: (outcome: ScheduleOutcome) => boolean;
}

interface FindingOptions {
  /** Where the files will be: for their replay commands. */
  readonly folder: string;
  /** At most so many files. */
  readonly most: number;
}

/** The known paths first, then the most telling findings. */
export function* shrunkFindings(
  report: SweepReport,
  { folder, most }: FindingOptions,
): Generator<FoundFile> {
  const found = [
    ...report.paths.flatMap(({ name, what, example }) =>
      example === undefined ? [] : [foundPath(name, what, example)],
    ),
    ...report.findings.map(foundFinding),
  ];
  for (const each of found.slice(0, most)) yield fileOf(each, report, folder);
}

function foundPath(name: string, what: string, example: ScheduleExample): ToShrink {
  const shows = knownPaths.find((path) => path.name === name)?.shows ?? never;
  return { name: `path-${name.toLowerCase()}`, title: `${name}: ${what}`, example, shows };
}

const foundFinding = (
  { key, count, novelty, ...example }: RankedFinding,
  rank: number,
): ToShrink => ({
  name: `found-${rank + 1}`,
  title: `${key} (${novelty}, in ${count} schedules)`,
  example,
  shows: (outcome) => judge(outcome).key === key,
});

const never = (): boolean => false;

function fileOf(
  { name, title, example, shows }: ToShrink,
  report: SweepReport,
  folder: string,
): FoundFile {
  const { scenario, outcome, again } = shrink({ ...example, shows });
  const { safety } = judge(outcome);
  const licence = licenceOf(outcome);
  const { verdicts, because } = expectationOf(scenario);
  const file = `${name}.yaml`;
  return {
    file,
    text: scheduleText({
      name,
      question: questionOf(scenario),
      seed: example.seed,
      predicted: [safety],
      scenario,
      comment: [
        title,
        `A prediction of the model ${report.modelVersion}, not a measurement.`,
        `Found by a sweep with seed ${report.seed}, schedule ${example.index}.`,
        `Replay: ${typed('replay', [join(folder, file), '--cluster', 'kind'])}`,
        `With ${again.shown} of ${again.of} other seeds it shows the same.`,
        ...(licence.length === 0 ? [] : [`Licence: ${licence.join(', ')}.`]),
        ...told(verdicts, safety, because),
        ...refusals(scenario, {}).map(
          ({ field, message }) =>
            `A run would be refused: ${writtenPathOf(field).join('.')}: ${message}.`,
        ),
      ],
    }),
  };
}

const questionOf = ({ fault, remedy, disk }: ScheduleExample['scenario']): string =>
  `What becomes of the volume under ${fault} with remedy ${remedy} on disk ${disk}?`;

/** What docs/expectations say of such a run, where that is something else. */
const told = (verdicts: readonly string[], safety: Safety, because: string): string[] =>
  verdicts.includes(safety) ? [] : [`Expected was ${verdicts.join(' or ')}: ${because}.`];
