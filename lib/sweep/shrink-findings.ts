/** The findings of a sweep as schedule files: each shrunk, with what it shows and how surely. */
import { join } from 'node:path';
import { expectationOf } from '../experiment/expectation/expectations.ts';
import type { Safety } from '../experiment/verdict/verdict.ts';
import { judge } from './judge.ts';
import type { Outcome } from './play.ts';
import { scheduleText } from './schedule-file.ts';
import { shrink } from './shrink.ts';
import { licenceOf } from './licence.ts';
import type { RankedFinding } from './rank.ts';
import type { Example } from './tally.ts';
import type { SweepReport } from './report.ts';
import { knownPaths } from './paths.ts';

export interface FoundFile {
  /** Without a folder. */
  readonly file: string;
  readonly text: string;
}

interface Found {
  readonly name: string;
  readonly title: string;
  readonly example: Example;
  readonly shows: (outcome: Outcome) => boolean;
}

export interface FindingOptions {
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

function foundPath(name: string, what: string, example: Example): Found {
  const shows = knownPaths.find((path) => path.name === name)?.shows ?? never;
  return { name: `path-${name.toLowerCase()}`, title: `${name}: ${what}`, example, shows };
}

const foundFinding = ({ key, count, novelty, ...example }: RankedFinding, rank: number): Found => ({
  name: `found-${rank + 1}`,
  title: `${key} (${novelty}, in ${count} schedules)`,
  example,
  shows: (outcome) => judge(outcome).key === key,
});

const never = (): boolean => false;

function fileOf(
  { name, title, example, shows }: Found,
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
        `Replay: npx zx experiments/replay.mjs ${join(folder, file)} --cluster kind`,
        `With ${again.shown} of ${again.of} other seeds it shows the same.`,
        ...(licence.length === 0 ? [] : [`Licence: ${licence.join(', ')}.`]),
        ...told(verdicts, safety, because),
      ],
    }),
  };
}

const questionOf = ({ fault, remedy, disk }: Example['scenario']): string =>
  `What becomes of the volume under ${fault} with remedy ${remedy} on disk ${disk}?`;

/** What docs/expectations say of such a run, where that is something else. */
const told = (verdicts: readonly string[], safety: Safety, because: string): string[] =>
  verdicts.includes(safety) ? [] : [`Expected was ${verdicts.join(' or ')}: ${because}.`];
