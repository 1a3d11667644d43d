/** A scenario: one combination of fault, remedy, disk, workload, rate and timers, as a run records it. */
import { z } from 'zod';
import { UsageError } from '../core/index.ts';
import { stockTimers } from './cluster.ts';
import { contradictions, refusals } from './contradictions.ts';
import { shapeOf, type Fields } from './field.ts';
import { about, groups, type Scenario, type ScenarioInput, type Settings } from './fields.ts';

export { type Scenario, type ScenarioInput, safetyLevels, verdictWords } from './fields.ts';

const groupSchemas = Object.fromEntries(
  Object.entries(groups).map(([group, fields]) => [
    group,
    z.strictObject(shapeOf(fields as Fields)).prefault({}),
  ]),
);
const { name, question, ...derived } = shapeOf(about);

/** Each field by itself. */
const record = z.strictObject({
  ...{ name, question },
  ...groupSchemas,
  ...derived,
}) as unknown as z.ZodType<Scenario, ScenarioInput>;

/** Each field by itself, then whether they fit together. */
export const scenarioSchema = record.superRefine((scenario, context) => {
  for (const { field, message } of contradictions(scenario)) {
    context.addIssue({ code: 'custom', path: field.split('.'), message });
  }
});

/** What takes a quarter of an hour with stock timers takes three minutes with these. */
export const shortTimers: typeof stockTimers = {
  grace: 10_000,
  toleration: 10_000,
  forceDetachAfter: 30_000,
};

/** Names of the timers that differ from stock in this scenario. */
export const shortenedTimers = ({ timers }: Scenario): (keyof typeof stockTimers)[] =>
  (Object.keys(stockTimers) as (keyof typeof stockTimers)[]).filter(
    (name) => timers[name] !== stockTimers[name],
  );

/** How far the numbers may be believed: stock timers, shortened ones, or the model. */
export type Basis = 'measured' | 'shortened' | 'predicted';

/** How far the numbers of such a run may be believed. */
export function basisOf({ isModel }: { readonly isModel: boolean }, scenario: Scenario): Basis {
  if (isModel) return 'predicted';
  return shortenedTimers(scenario).length > 0 ? 'shortened' : 'measured';
}

/** Validates and completes a scenario. Throws UsageError `SCENARIO_INVALID` with the path of each fault. */
export const parseScenario = (input: ScenarioInput): Scenario => parsedBy(scenarioSchema, input);

/** Completes one that others are made of: those are checked for contradictions. Throws as above. */
export const completeScenario = (input: ScenarioInput): Scenario => parsedBy(record, input);

/** One that somebody wants to run: of `asked` also what would do nothing is refused. Throws as above. */
export function askedScenario(asked: Settings, facts: Facts): Scenario {
  const scenario = completeScenario({ ...asked, ...facts });
  const refused = refusals(scenario, asked);
  if (refused.length === 0) return scenario;
  throw invalid(
    refused.map(({ field, message }) => ({ code: 'custom', path: field.split('.'), message })),
  );
}

type Facts = Pick<ScenarioInput, 'name' | 'question' | 'expected' | 'diskFrom'>;

function parsedBy(schema: z.ZodType<Scenario>, input: unknown): Scenario {
  const { success, data, error } = schema.safeParse(input);
  if (success) return data;
  throw invalid(error.issues);
}

const invalid = (issues: z.core.$ZodIssue[]): UsageError =>
  new UsageError('SCENARIO_INVALID', `the scenario is not valid:\n${z.prettifyError({ issues })}`, {
    hint: 'docs/reference/scenarios.md lists every field and its default',
  });
