/** A scenario: one combination of fault, remedy, disk, workload, rate and timers, as a run records it. */
import { z } from 'zod';
import { stockTimersMs } from './fields/cluster.ts';
import { UsageError } from '../core/index.ts';
import { contradictions } from './contradictions.ts';
import { refusals } from './asked.ts';
import { record, type Scenario, type ScenarioInput } from './scenario-record.ts';
import { fieldOf } from './written-paths.ts';
import type { Settings } from './settings.ts';

export type { Scenario, ScenarioInput } from './scenario-record.ts';
export { stockTimersMs } from './fields/cluster.ts';
export { safetyLevels, servingWords, verdictWords, type Counts } from './fields.ts';

/** Each field by itself, then whether they fit together. */
export const scenarioSchema = record.superRefine((scenario, context) => {
  for (const { field, message } of contradictions(scenario)) {
    context.addIssue({ code: 'custom', path: [field], message });
  }
});

/** What takes a quarter of an hour with stock timers takes three minutes with these. */
export const shortTimersMs: typeof stockTimersMs = {
  graceMs: 10_000,
  tolerationMs: 10_000,
  forceDetachAfterMs: 30_000,
};

/** Names of the timers that differ from stock in this scenario. */
export const shortenedTimers = (scenario: Scenario): string[] =>
  Object.entries(stockTimersMs)
    .filter(([name, stock]) => scenario[name as keyof typeof stockTimersMs] !== stock)
    .map(([name]) => name);

/** How far the numbers may be believed: stock timers, shortened ones, or the model. */
export type Basis = 'measured' | 'shortened' | 'predicted';

/** How far the numbers of such a run may be believed. */
export function basisOf({ isModel }: { readonly isModel: boolean }, scenario: Scenario): Basis {
  if (isModel) return 'predicted';
  return shortenedTimers(scenario).length > 0 ? 'shortened' : 'measured';
}

/** Validates and completes a scenario. Throws UsageError `SCENARIO_INVALID` with the path of each fault. */
export const parseScenario = (input: unknown): Scenario => parsedBy(scenarioSchema, input);

/** Completes one that others are made of: whether its fields fit together is asked of those. Throws as above. */
export const completeScenario = (input: unknown): Scenario => parsedBy(record, input);

/**
 * One that somebody asks for: of `asked` also what is said and would do nothing is refused, which a
 * record that says everything cannot tell. Throws as above.
 */
export function askedScenario(asked: Settings, about: About): Scenario {
  const scenario = completeScenario({ ...asked, ...about });
  const refused = refusals(scenario, asked);
  if (refused.length === 0) return scenario;
  throw invalid(refused.map(({ field, message }) => ({ code: 'custom', path: [field], message })));
}

/** What is no part of what is asked, but of whom it is asked by. */
type About = Pick<ScenarioInput, 'name' | 'question' | 'expected' | 'diskFrom'>;

function parsedBy(schema: z.ZodType<Scenario>, input: unknown): Scenario {
  const { success, data, error } = schema.safeParse(input);
  if (success) return data;
  throw invalid(error.issues);
}

const invalid = (issues: readonly z.core.$ZodIssue[]): UsageError =>
  new UsageError('SCENARIO_INVALID', `the scenario is not valid:\n${told(issues)}`, {
    hint: 'docs/reference/scenarios.md lists every field and its default',
  });

/** Each with the place where people write it. */
const told = (issues: readonly z.core.$ZodIssue[]): string =>
  z.prettifyError({
    issues: issues.map((issue) => {
      const [name, ...within] = issue.path;
      const at = fieldOf(String(name))?.at.split('.') ?? issue.path.slice(0, 1);
      return { ...issue, path: [...at, ...within] };
    }),
  });
