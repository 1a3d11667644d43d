/** Makes fields that were drawn one by one fit together: what contradicts becomes the default. */
import { isDeepStrictEqual } from 'node:util';
import { contradictions, parseScenario, type Scenario } from '../scenario/index.ts';

/** Every field at its default: no fault, no remedy. */
export const plainScenario: Scenario = parseScenario({
  name: 'sweep',
  question: 'What becomes of the volume under this schedule?',
  fault: 'none',
  expected: ['safe'],
});

/** A copy of a scenario, to be written to: so all schedules have one shape, and each access is fast. */
export type ScenarioDraft = { -readonly [Field in keyof Scenario]: unknown };

/** A rule names one field; these belong to it. */
const together: Partial<Readonly<Record<keyof Scenario, readonly (keyof Scenario)[]>>> = {
  alsoAt: ['alsoForMs'],
  selfFenceAfterMs: ['graceMs'],
};

/** Without a fault none of the events comes that a remedy could wait for. */
const atOnceMs = 0;

/** More passes than there are rules that can follow from each other. */
const mostPasses = 12;

export function settle(drawn: Scenario): Scenario {
  let scenario = drawn;
  for (let pass = 0; pass < mostPasses; pass++) {
    const broken = contradictions(scenario);
    if (broken.length === 0) return scenario;
    const fitting: ScenarioDraft = { ...scenario };
    for (const { field } of broken) {
      for (const each of [field, ...(together[field] ?? [])]) fitting[each] = plainScenario[each];
      if (field === 'remedyAt' && scenario.fault === 'none') fitting[field] = atOnceMs;
    }
    scenario = fitting as Scenario;
  }
  throw new RangeError(`these fields never fit together: ${JSON.stringify(drawn)}`);
}

/** Whether a field has its default; by value, since a schedule from another thread is a copy. */
export const hasDefault = (scenario: Scenario, field: keyof Scenario): boolean =>
  scenario[field] === plainScenario[field] ||
  isDeepStrictEqual(scenario[field], plainScenario[field]);

/** Fields that differ from their defaults, without name, question and expectation. */
export function changedFields(scenario: Scenario): (keyof Scenario)[] {
  const derived: readonly string[] = ['name', 'question', 'expected', 'expectedServing'];
  return (Object.keys(scenario) as (keyof Scenario)[]).filter(
    (field) => !derived.includes(field) && !hasDefault(scenario, field),
  );
}
