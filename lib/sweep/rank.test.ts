import { combined } from '../scenario/index.ts';
import { expect, test } from 'vitest';
import { modelScenario } from '../../test/support/model-run.ts';
import type { ScenarioInput } from '../scenario/scenario.ts';
import type { Harm } from './judge.ts';
import { ranked } from './report.ts';
import type { SweepFinding } from './tally.ts';

const place = 'unfenced | alive';

interface Given {
  readonly broken: readonly Harm[];
  readonly licence?: readonly string[];
  readonly count?: number;
  readonly fields?: Partial<ScenarioInput>;
  readonly place?: string;
}

/** A partition, the pod force-deleted: lost or corrupt, and somebody serves. */
function finding({
  broken,
  licence = [],
  count = 1,
  fields = {},
  place: at = place,
}: Given): SweepFinding {
  const key = [broken[0], at, ...licence].join(' | ');
  const scenario = modelScenario(combined({ remedy: { kind: 'force-delete' } }, fields));
  return { key, broken, licence, count, index: 0, seed: 'a', scenario };
}

const order = (...findings: SweepFinding[]): string[] =>
  ranked(findings).map(({ novelty, key }) => `${novelty}: ${key}`);

test('what nobody foretold comes first, however often the rest was seen', () => {
  const known = finding({ broken: ['lost'], licence: ['podGone'], count: 9000 });
  const odd = finding({
    broken: ['exposed'],
    place: 'fenced | alive',
    fields: { disk: { mode: 'fenced' } },
  });
  expect(order(known, odd)).toEqual([
    'unforetold: exposed | fenced | alive',
    'new: lost | unfenced | alive | podGone',
  ]);
});

test('as much harm by fewer decisions makes the longer one a variant, another disk does not', () => {
  const short = finding({ broken: ['lost'], licence: ['podGone'] });
  const long = finding({ broken: ['lost'], licence: ['podGone', 'uncertain'], count: 500 });
  const worse = finding({ broken: ['corrupt'], licence: ['podGone', 'uncertain'] });
  const elsewhere = finding({
    ...{ broken: ['lost'], licence: ['podGone', 'uncertain'] },
    ...{
      place: 'exclusive | alive',
      fields: { disk: { mode: 'exclusive' }, fault: { link: 'stalls' } },
    },
  });
  expect(order(long, short, elsewhere, worse)).toEqual([
    'new: corrupt | unfenced | alive | podGone | uncertain',
    'new: lost | unfenced | alive | podGone',
    'new: lost | exclusive | alive | podGone | uncertain',
    'variant: lost | unfenced | alive | podGone | uncertain',
  ]);
});

test('a database that serves no more is foretold only where that is said', () => {
  const stuck = finding({ broken: ['not converged'], fields: { remedy: { kind: 'none' } } });
  const down = finding({
    broken: ['not converged'],
    fields: { fault: { kind: 'node-crash', reboot: false }, remedy: { kind: 'none' } },
  });
  expect(ranked([stuck]).map(({ novelty }) => novelty)).toEqual(['unforetold']);
  expect(ranked([down]).map(({ novelty }) => novelty)).toEqual(['new']);
});
