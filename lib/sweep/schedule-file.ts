/** A schedule as a YAML file: what a sweep found, in the smallest scenario, to be played again. */
import { stringify } from 'yaml';
import { z } from 'zod';
import {
  refusals,
  verdictWords,
  type Scenario,
  goesWith,
  writtenPathOf,
  type Settings,
  hintOnOldKeys,
  oldKeysIn,
  settingsSchema,
  writtenOf,
} from '../scenario/index.ts';
import { readYaml, type FileKind, type OnHint } from '../core/index.ts';
import { changedFields, plainScenario } from './settle.ts';

const wholeOf = (settings: Settings): Scenario => ({ ...plainScenario, ...settings }) as Scenario;

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
    .refine((settings) => 'fault' in settings, {
      path: ['fault'],
      error: 'a schedule has a fault, if only `none`',
    })
    .superRefine((settings, context) => {
      for (const { field, message } of refusals(wholeOf(settings), settings)) {
        context.addIssue({ code: 'custom', path: [...writtenPathOf(field)], message });
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

export interface ScheduleText extends Omit<ScheduleFile, 'scenario'> {
  readonly scenario: Scenario;
  /** Lines for people, before everything else. */
  readonly comment: readonly string[];
}

/** The file's text; times as people write them. */
export function scheduleText(schedule: ScheduleText): string {
  const { name, question, seed, predicted, scenario, comment } = schedule;
  const changed = changedFields(scenario).filter((field) => goesWith(field, scenario));
  const fields = [...new Set<keyof Scenario>(['fault', ...changed])];
  const settings = Object.fromEntries(fields.map((field) => [field, scenario[field]]));
  const body = { name, question, seed, predicted: [...predicted], scenario: writtenOf(settings) };
  return `${comment.map((line) => `# ${line}\n`).join('')}${stringify(body)}`;
}
