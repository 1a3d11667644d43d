/** Which labels of an axis differ in one thing: only these show what that one change does. */
import { clientTiming, indifferentNames, timing } from '../expectations/scenario-key.ts';
import { contradictions } from '../experiment/contradictions.ts';
import type { Scenario } from '../experiment/scenario.ts';
import type { Cell } from './cells.ts';
import type { Axis } from './matrix-schema.ts';

/** Pairs of labels. Of a list of unlike cases most of them; none of an axis that is a field. */
export function unlikeLabels({ name, values }: Axis, cells: readonly Cell[]): [string, string][] {
  const labels = values.map(({ label }) => label);
  const elsewhere = ({ place }: Cell): string => JSON.stringify({ ...place, [name]: '' });
  const byPlace = [...Map.groupBy(cells, elsewhere).values()].map(
    (group) => new Map(group.map(({ place, scenario }) => [place[name], scenario])),
  );
  const areUnlike = (from: string, to: string): boolean =>
    byPlace.some((scenarios) => {
      const [a, b] = [scenarios.get(from), scenarios.get(to)];
      return a !== undefined && b !== undefined && !isOneChange(a, b);
    });
  return labels.flatMap((from, index) =>
    labels
      .slice(index + 1)
      .filter((to) => areUnlike(from, to))
      .map((to): [string, string] => [from, to]),
  );
}

const notDone = new Set<string>([...timing, ...clientTiming, ...indifferentNames]);

/** Fields that only change together are one change: what cuts `ack-early` off comes with that disk. */
export function isOneChange(a: Scenario, b: Scenario): boolean {
  const fields = Object.keys({ ...a, ...b }) as (keyof Scenario)[];
  const changed = fields.filter(
    (field) => !notDone.has(field) && JSON.stringify(a[field]) !== JSON.stringify(b[field]),
  );
  const fits = (scenario: Scenario, other: Scenario, field: keyof Scenario): boolean =>
    contradictions({ ...scenario, [field]: other[field] }).length === 0;
  const alone = changed.filter((field) => fits(a, b, field) && fits(b, a, field));
  return alone.length + (alone.length < changed.length ? 1 : 0) <= 1;
}
