/** A schedule as a YAML file: what a sweep found, in the smallest scenario, to be played again. */
import { stringify } from 'yaml';
import { z } from 'zod';
import { formatDuration } from '../durations.ts';
import { contradictions } from '../experiment/contradictions.ts';
import { verdictWords, type Scenario } from '../experiment/scenario.ts';
import { settingsSchema, type Settings } from '../matrix/matrix-schema.ts';
import { parseYaml, readYaml, type FileKind } from '../yaml-file.ts';
import { changedFields, plainScenario } from './settle.ts';

/** Fields of the scenario that the file leaves out have their defaults. */
const scheduleSchema = z
  .strictObject({
    /** Kebab-case. */
    name: z.string().regex(/^[a-z0-9-]+$/, 'lower-case letters, digits and dashes'),
    /** What the schedule asks, in one sentence. */
    question: z.string().min(1),
    /** Draws all chance. */
    seed: z.string().min(1),
    /** Verdicts that are no surprise: what the model predicts. */
    predicted: z.array(z.enum(verdictWords)).min(1),
    scenario: settingsSchema.refine((settings) => 'fault' in settings, {
      path: ['fault'],
      error: 'a schedule has a fault, if only `none`',
    }),
  })
  .superRefine((file, context) => {
    for (const { field, message } of contradictions({
      ...plainScenario,
      ...file.scenario,
    } as Scenario)) {
      context.addIssue({ code: 'custom', path: ['scenario', field], message });
    }
  });

export interface ScheduleFile {
  readonly name: string;
  readonly question: string;
  readonly seed: string;
  readonly predicted: Scenario['expected'];
  readonly scenario: Settings;
}

const scheduleFile: FileKind<ScheduleFile> = {
  kind: 'schedule',
  schema: scheduleSchema,
  hint: 'docs/internals/sweep.md has every key, docs/reference/scenarios.md every field',
  example: 'experiments/schedules/controller-restart-after-node-deletion.yaml',
};

/** Throws UsageError `SCHEDULE_UNREADABLE` or `SCHEDULE_INVALID`. */
export const readSchedule = (path: string): ScheduleFile => readYaml(path, scheduleFile);

/** `name` stands before each line number. Throws UsageError `SCHEDULE_INVALID`. */
export const parseSchedule = (text: string, name: string): ScheduleFile =>
  parseYaml(text, name, scheduleFile);

export interface ScheduleText {
  readonly name: string;
  readonly question: string;
  readonly seed: string;
  readonly predicted: Scenario['expected'];
  readonly scenario: Scenario;
  /** Lines for people, before everything else. */
  readonly comment: readonly string[];
}

/** The file's text; times as people write them. */
export function scheduleText(schedule: ScheduleText): string {
  const { name, question, seed, predicted, scenario, comment } = schedule;
  const fields = [...new Set<keyof Scenario>(['fault', ...changedFields(scenario)])];
  const settings = Object.fromEntries(
    fields.map((field) => [field, shown(field, scenario[field])]),
  );
  const body = { name, question, seed, predicted: [...predicted], scenario: settings };
  return `${comment.map((line) => `# ${line}\n`).join('')}${stringify(body)}`;
}

const shown = (field: string, value: unknown): unknown =>
  typeof value === 'number' && /(Ms|At)$/.test(field) ? formatDuration(value) : value;
