/** The table: one factor at a time from the base, one of each first, nothing twice. */
import { expect, test } from 'vitest';
import { cellNames, cells, cellsOf, idOf, nameOf, notRun, planOf, rows } from './cells.ts';

const none = new Set<string>();

test('a cell differs from the base in one factor; those of a living node in what follows, too', () => {
  for (const name of cellNames) {
    const { what: _, ...base } = cells.base;
    const cell = cells[name];
    const differs = Object.entries(base).filter(
      ([key, value]) => cell[key as keyof typeof base] !== value,
    );
    const factors = differs.map(([key]) => (key === 'faultS' ? 'victim' : key));
    expect(new Set(factors).size, name).toBeLessThanOrEqual(cell.after === 'heal' ? 1 : 2);
  }
});

test('each row is asked once before any is asked twice, and long cells on request only', () => {
  const plan = planOf({ rows, long: false, done: none });
  expect(new Set(plan.map(idOf)).size).toBe(plan.length);
  expect(plan.every(({ cell }) => cell !== 'cut-600')).toBe(true);
  const nbd = plan.filter(({ row }) => row.transport === 'nbd').map(({ repeat }) => repeat);
  expect(nbd).toEqual(nbd.toSorted((a, b) => a - b));
  const long = planOf({ rows, long: true, done: none }).filter(({ cell }) => cell === 'cut-600');
  expect(long.map(({ row }) => nameOf(row))).toEqual(rows.map(nameOf));
});

test('what was done is not done again, and what was not run is listed', () => {
  const [first, ...others] = planOf({ rows, long: false, done: none });
  if (first === undefined) throw new Error('no plan');
  const done = new Set([idOf(first)]);
  expect(planOf({ rows, long: false, done }).length).toBe(others.length);
  expect(notRun(rows, none)).toContain(`${nameOf(first.row)} ${first.cell}`);
  expect(notRun(rows, done)).not.toContain(`${nameOf(first.row)} ${first.cell}`);
});

test('nothing is undone where nothing was revoked, or is revoked for good', () => {
  expect(cellsOf({ transport: 'nbd', revocation: 'none' })).not.toContain('give-back');
  expect(cellsOf({ transport: 'nbd', revocation: 'cut' })).not.toContain('give-back');
  expect(cellsOf({ transport: 'nfs', revocation: 'client' })).toContain('give-back');
});
