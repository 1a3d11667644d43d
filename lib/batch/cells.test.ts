import { expect, test } from 'vitest';
import { UsageError } from '../core/errors.ts';
import { cellsOf } from './cells.ts';
import { parseMatrix } from './matrix.ts';

const head = 'name: m\nquestion: q\n';
const cells = (text: string) => cellsOf(parseMatrix(head + text, 'm.yaml'));

/** Message and hint of what is thrown. */
function refusal(text: string): string {
  try {
    cells(text);
  } catch (error) {
    if (error instanceof UsageError) return `${error.code} ${error.message} (${error.hint})`;
    throw error;
  }
  return 'nothing was refused';
}

test('every combination once, in the order of the file, with all of the scenario', () => {
  const found = cells(`
base: { fault: network-partition, timers: { grace: 10s } }
axes:
  remedy: [none, force-delete]
  waits:
    short: { timers: { toleration: 10s } }
    stock: {}
exclude: [{ remedy: none, waits: [short] }]
include: [{ fault: node-crash, database: { trxCommit: 2 } }]
`);
  expect(found.map(({ label }) => label)).toEqual([
    'remedy none, waits stock',
    'remedy force-delete, waits short',
    'remedy force-delete, waits stock',
    'fault node-crash, database.trxCommit 2',
  ]);
  expect(found.map(({ scenario }) => [scenario.timers.grace, scenario.timers.toleration])).toEqual([
    [10_000, 300_000],
    [10_000, 10_000],
    [10_000, 300_000],
    [10_000, 300_000],
  ]);
  expect(found.map(({ place }) => Object.keys(place).length)).toEqual([2, 2, 2, 0]);
  expect(found[3]?.scenario).toMatchObject({
    ...{ fault: { kind: 'node-crash' }, database: { trxCommit: 2 } },
  });
  expect(new Set(found.map(({ id }) => id)).size).toBe(4);
});

test.each([
  ['axes: { remedy: [boom] }', /m\.yaml:3:18: axes\.remedy\.0: Invalid option.*"none"/s],
  ['axes: { sky: [blue] }', /m\.yaml:3:\d+: axes\.sky: is no field.*named settings/s],
  ['axes: { disk: { a: {} } }', /axes\.disk: is a field of the scenario: give a list/],
  ['axes: { disk: [fenced, fenced] }', /axes\.disk\.1: stands here twice/],
  [
    'axes: {}\nbase: { load: { rate: max } }',
    /m\.yaml:4:23: base\.load\.rate: beyond 25 commits\/s/,
  ],
  ['axes: {}\nrepeats: 0', /m\.yaml:4:10: repeats: /],
  ['axes: {}\nbase: { expected: [safe] }', /base\.expected: no such key; there are fault, /],
  ['axes: { fault.lnk: [stalls] }', /axes\.fault\.lnk: is no field/],
  ['axes: { fault.link: [gone] }', /m\.yaml:3:22: axes\.fault\.link\.0: Invalid option/],
  [
    'axes: { a: { b: { fault: { dwn: 5s } } } }',
    /axes\.a\.b\.fault\.dwn: no such key; did you mean down/,
  ],
  ['axes: [', /m\.yaml:3:\d+: /],
])('%s: says where and what', (text, pattern) => {
  expect(refusal(text)).toMatch(/^MATRIX_INVALID .*docs\/reference\/matrix\.md/s);
  expect(refusal(text)).toMatch(pattern);
});

test('cells that contradict themselves are named, with the way out', () => {
  const text = 'axes: { fault: [node-crash, freeze], powerLoss: [keeps, drops] }';
  expect(refusal(text)).toMatch(/MATRIX_CONTRADICTS .*fault freeze, powerLoss drops: .*exclude/s);
});

test('an exclude that can never fit is a slip of the pen', () => {
  const axes = 'axes: { fault: [freeze] }\n';
  expect(refusal(`${axes}exclude: [{ fault: freezee }]`)).toMatch(/no such value: freezee/);
  expect(refusal(`${axes}exclude: [{ flaut: freeze }]`)).toMatch(/no such axis.*fault/);
  expect(refusal(`${axes}exclude: [{ fault: freeze }]`)).toMatch(/MATRIX_EMPTY/);
});

test('a kind that an axis names takes with it what went with another', () => {
  const found = cells(`
base: { fault: { kind: flapping-partition, down: 46s }, disk: { mode: ack-early, cutAfter: 1s } }
axes:
  fault: [flapping-partition, freeze]
  disk: [ack-early, fenced]
`);
  expect(found.map(({ scenario }) => [scenario.fault.down, scenario.disk.cutAfter])).toEqual([
    [46_000, 1000],
    [46_000, 10_000],
    [70_000, 1000],
    [70_000, 10_000],
  ]);
});

const disks =
  'base: { fault: network-partition, remedy: force-delete }\naxes: { disk: [unfenced, fenced] }\n';

test('a file says what its cells must come to, for all or for some', () => {
  const expectations = (text: string) =>
    cells(disks + text).map(({ scenario, because }) => {
      const { expected, expectedServing, counted } = scenario;
      return { expected, expectedServing, counted, because };
    });
  const because = 'the matrix file says so';
  const safe = { expected: ['safe'], expectedServing: undefined, counted: undefined, because };
  expect(expectations('expect: safe')).toEqual([safe, safe]);
  const some = `
expect: [safe]
expectOf:
  - { cells: { disk: unfenced }, expect: { safety: [lost, corrupt], serving: open } }
  - { cells: { disk: [unfenced, fenced] }, expect: [safe, exposed] }
`;
  expect(expectations(some)).toEqual([
    { ...safe, expected: ['lost', 'corrupt'], expectedServing: 'open' },
    { ...safe, expected: ['safe', 'exposed'] },
  ]);
  const [derived] = expectations('');
  expect(derived?.because).not.toBe(because);
});

test.each([
  ['expect: sfae', 'expect: give safe, exposed, lost, corrupt, a list of them, or'],
  ['expect: inconclusive', 'expect: give safe, exposed, lost, corrupt, a list of them, or'],
  ['expect: [safe, exposed, lost, corrupt]', 'so it can never fail'],
  ['expect: { safety: safe, serving: maybe }', 'serving: yes | no | open'],
  [
    'expectOf: [{ cells: { disk: fencd }, expect: safe }]',
    'expectOf.0.cells.disk: no such value: fencd',
  ],
])('%s is refused', (text, why) => {
  expect(refusal(disks + text)).toContain(why);
});
