/** Findings as schedule files: each shrunk to the fewest fields that differ from their defaults, events instead of times. */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import {
  refusals,
  verdictWords,
  type Scenario,
  goesWith,
  type SettableName,
  settingsFrom,
  valueAt,
  type Settings,
  hintOnOldKeys,
  oldKeysIn,
  settingsSchema,
  writtenOf,
  combined,
  type FieldName,
  withValues,
  settableNames,
} from '../scenario/index.ts';
import {
  readYaml,
  type FileKind,
  type OnHint,
  typed,
  alsoEvents,
  remedyEvents,
} from '../core/index.ts';
import { changedFields, plainScenario, settle } from './schedule.ts';
import { play, type ScheduleOutcome } from './play.ts';
import { expectationOf } from '../judge/index.ts';
import { judge, knownPaths } from './judge.ts';
import type { SweepReport } from './report.ts';
import type { ScheduleExample } from './tally.ts';

const wholeOf = (settings: Settings): Scenario => combined(plainScenario, settings);

/** Fields of the scenario that the file leaves out have their defaults. */
const scheduleSchema = z.strictObject({
  /** Kebab-case. */
  name: z.string().regex(/^[a-z0-9-]+$/, 'lower-case letters, digits and dashes'),
  /** What the schedule asks, in one sentence. */
  question: z.string().min(1),
  /** Draws all chance. */
  seed: z.string().min(1),
  /** Verdicts that are no surprise: what the model predicts. */
  predicted: z.array(z.enum(verdictWords)).min(1),
  scenario: settingsSchema
    .refine((settings) => settings.fault?.kind !== undefined, {
      path: ['fault'],
      error: 'a schedule has a fault, if only `none`',
    })
    .superRefine((settings, context) => {
      for (const { field, message } of refusals(wholeOf(settings), settings)) {
        context.addIssue({ code: 'custom', path: field.split('.'), message });
      }
    }),
});

export type ScheduleFile = Readonly<z.output<typeof scheduleSchema>>;

export const scheduleFile: FileKind<ScheduleFile> = {
  kind: 'schedule',
  schema: scheduleSchema,
  hint: 'docs/internals/sweep.md has every key, docs/reference/scenarios.md every field',
  example: 'experiments/schedules/controller-restart-after-node-deletion.yaml',
  hintOn: (file) => hintOnOldKeys(oldKeysIn((file as ScheduleFile).scenario)),
};

/** Throws UsageError `SCHEDULE_UNREADABLE` or `SCHEDULE_INVALID`. */
export const readSchedule = (path: string, onHint?: OnHint): ScheduleFile =>
  readYaml(path, scheduleFile, onHint);

interface ScheduleText extends Omit<ScheduleFile, 'scenario'> {
  readonly scenario: Scenario;
  /** Lines for people, before everything else. */
  readonly comment: readonly string[];
}

/** The file's text; times as people write them. */
export function scheduleText({ scenario, comment, ...about }: ScheduleText): string {
  const changed = changedFields(scenario).filter((field) => goesWith(field, scenario));
  const fields = [...new Set<SettableName>(['fault.kind', ...changed])];
  const settings = settingsFrom(fields.map((field) => [field, valueAt(scenario, field)]));
  const body = { ...about, scenario: writtenOf(settings) };
  return `${comment.map((line) => `# ${line}\n`).join('')}${stringify(body)}`;
}

interface ShrinkOptions {
  readonly scenario: Scenario;
  readonly seed: string;
  /** Whether an outcome still shows it. */
  readonly shows: (outcome: ScheduleOutcome) => boolean;
}

interface Shrunk {
  readonly scenario: Scenario;
  readonly outcome: ScheduleOutcome;
  /** How many of `otherSeeds` show it as well: how much of it is chance. */
  readonly shownAgain: number;
}

/** Instead of a time: the first that still shows it. */
const simplerValues: Partial<Readonly<Record<FieldName, readonly unknown[]>>> = {
  'remedy.at': remedyEvents,
  'also.at': alsoEvents,
  'fault.rebootAt': ['force-detach'],
  'remedy.untaintAt': ['heal', 'kept'],
  'load.rate': [25],
  'remedy.kind': ['force-delete'],
  'fault.kind': ['network-partition'],
};
const otherSeeds = 20;

export function shrink({ scenario, seed, shows }: ShrinkOptions): Shrunk {
  let best = { scenario, outcome: play(scenario, seed) };
  const accepts = (field: SettableName, value: unknown): boolean => {
    const candidate = settle(withValues(best.scenario, [[field, value]]));
    const isSame = (each: SettableName): boolean =>
      valueAt(candidate, each) === valueAt(best.scenario, each);
    if (settableNames.every(isSame)) return false;
    const outcome = play(candidate, seed);
    if (!shows(outcome)) return false;
    best = { scenario: candidate, outcome };
    return true;
  };
  for (let goesOn = true; goesOn; ) {
    goesOn = false;
    for (const field of changedFields(best.scenario)) {
      // What was simplified on the way may have gone with another field.
      if (accepts(field, valueAt(plainScenario, field))) goesOn = true;
    }
  }
  for (const field of changedFields(best.scenario)) {
    const values = simplerValues[field] ?? [];
    if (!values.includes(valueAt(best.scenario, field)))
      values.some((value) => accepts(field, value));
  }
  const seeds = Array.from({ length: otherSeeds }, (_, n) => `${seed}+${n + 1}`);
  const shownAgain = seeds.filter((each) => shows(play(best.scenario, each))).length;
  return { ...best, shownAgain };
}

interface ToShrink extends Pick<ShrinkOptions, 'shows'> {
  readonly name: string;
  readonly title: string;
  readonly example: ScheduleExample;
}

/**
 * The findings of a sweep as schedule files, at most so many: the known paths first, then the most telling
 * findings. `folder`: where the files will be, for their replay commands.
 */
export function* shrunkFindings(
  report: SweepReport,
  { folder, most }: { readonly folder: string; readonly most: number },
): Generator<{ readonly file: string; readonly text: string }> {
  const paths = report.paths.flatMap(({ name, what, example }): ToShrink[] => {
    const shows = knownPaths.find((path) => path.name === name)?.shows;
    if (example === undefined || shows === undefined) return [];
    return [{ name: `path-${name.toLowerCase()}`, title: `${name}: ${what}`, example, shows }];
  });
  const findings = report.findings.map(
    ({ key, count, novelty, ...example }, rank): ToShrink => ({
      name: `found-${rank + 1}`,
      title: `${key} (${novelty}, in ${count} schedules)`,
      example,
      shows: (outcome) => judge(outcome).key === key,
    }),
  );
  for (const each of [...paths, ...findings].slice(0, most)) yield fileOf(each, report, folder);
}

function fileOf(
  { name, title, example, shows }: ToShrink,
  report: SweepReport,
  folder: string,
): { readonly file: string; readonly text: string } {
  const { scenario, outcome, shownAgain } = shrink({ ...example, shows });
  const { safety, licence } = judge(outcome);
  const { verdicts, because } = expectationOf(scenario);
  const { fault, remedy, disk } = scenario;
  const file = `${name}.yaml`;
  const comment = [
    title,
    `A prediction of the model ${report.modelVersion}, not a measurement.`,
    `Found by a sweep with seed ${report.seed}, schedule ${example.index}.`,
    `Replay: ${typed('replay', [join(folder, file), '--cluster', 'kind'])}`,
    `With ${shownAgain} of ${otherSeeds} other seeds it shows the same.`,
    ...(licence.length === 0 ? [] : [`Licence: ${licence.join(', ')}.`]),
    ...(verdicts.includes(safety) ? [] : [`Expected was ${verdicts.join(' or ')}: ${because}.`]),
    ...refusals(scenario, {}).map(
      ({ field, message }) => `A run would be refused: ${field}: ${message}.`,
    ),
  ];
  const question = `What becomes of the volume under ${fault.kind} with remedy ${remedy.kind} on disk ${disk.mode}?`;
  const { seed } = example;
  return {
    file,
    text: scheduleText({ name, question, seed, predicted: [safety], scenario, comment }),
  };
}
