import { expect, test } from 'vitest';
import { UsageError } from '../errors.ts';
import { cellsOf } from './cells.ts';
import { parseMatrix } from './read-matrix.ts';

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
base: { fault: network-partition, graceMs: 10s }
axes:
  remedy: [none, force-delete]
  timers:
    short: { tolerationMs: 10s }
    stock: {}
exclude: [{ remedy: none, timers: [short] }]
include: [{ fault: node-crash, trxCommit: 2 }]
`);
  expect(found.map(({ label }) => label)).toEqual([
    'remedy none, timers stock',
    'remedy force-delete, timers short',
    'remedy force-delete, timers stock',
    'fault node-crash, trxCommit 2',
  ]);
  expect(found.map(({ scenario }) => [scenario.graceMs, scenario.tolerationMs])).toEqual([
    [10_000, 300_000],
    [10_000, 10_000],
    [10_000, 300_000],
    [10_000, 300_000],
  ]);
  expect(found.map(({ place }) => Object.keys(place).length)).toEqual([2, 2, 2, 0]);
  expect(found[3]?.scenario).toMatchObject({ fault: 'node-crash', trxCommit: 2 });
  expect(new Set(found.map(({ id }) => id)).size).toBe(4);
});

test('a label that has a comma stands in quotes, so that its cell reads as one place', () => {
  const found = cells(`
axes:
  case: { 'cut off, force-delete': { fault: network-partition, remedy: force-delete } }
  disk: [fenced]
`);
  expect(found.map(({ label }) => label)).toEqual(['case “cut off, force-delete”, disk fenced']);
});

test.each([
  ['axes: { remedy: [boom] }', /m\.yaml:3:18: axes\.remedy\.0: Invalid option.*"none"/s],
  ['axes: { sky: [blue] }', /m\.yaml:3:\d+: axes\.sky: is no field.*named settings/s],
  ['axes: { disk: { a: {} } }', /axes\.disk: is a field of the scenario: give a list/],
  ['axes: { disk: [fenced, fenced] }', /axes\.disk\.1: stands here twice/],
  ['axes: {}\nbase: { rate: max }', /m\.yaml:4:15: base\.rate: beyond 25 commits\/s/],
  ['axes: {}\nrepeats: 0', /m\.yaml:4:10: repeats: /],
  ['axes: {}\nbase: { expected: [safe] }', /base: Unrecognized key: "expected"/],
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
