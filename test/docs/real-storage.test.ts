/** docs/results/real-storage.md: its table and its picture are made from the store; `vitest -u` writes them. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { transportOf, transports } from '../../lib/scenario/transports/index.ts';
import type { Revocation, TransportDeclaration } from '../../lib/scenario/transports/kind.ts';
import { markdownTable } from '../../lib/core/numbers.ts';
import { linesOf } from '../../lib/batch/measurements.ts';
import { cellsOf, nameOf, notRun, rows } from '../../research/real-storage/cells.ts';
import { mostLateMs } from '../../research/real-storage/outcome.ts';
import { heatMap } from '../../research/real-storage/picture.ts';
import { trialSchema } from '../../research/real-storage/result.ts';
import { summarize, type RowSummary } from '../../research/real-storage/summary.ts';
import { filled, read, root } from './pages.ts';

const page = 'docs/results/real-storage.md';
const lines = linesOf(trialSchema);
const summaries = summarize(lines);

const trialsOf = ({ cells }: RowSummary): number =>
  [...cells.values()].reduce((sum, { trials }) => sum + trials.length, 0);

const isKernel = ({ transport }: RowSummary): boolean => transport.includes('(');
const tableOf = (rowsShown: readonly RowSummary[]): string =>
  markdownTable(
    ['Protocol', 'Revoked by', 'A living node', 'A node cut off', 'And', 'n', 'Worth'],
    rowsShown.map((row) => [
      row.transport,
      `\`${row.revocation}\``,
      row.gets.living ?? '–',
      row.gets.cutOff ?? '–',
      row.gets.others.join('; ') || '–',
      String(trialsOf(row)),
      row.worth,
    ]),
  );

function missing(): string {
  const cells = notRun(rows, new Set(lines.map(({ id }) => id)));
  const every = rows.flatMap((row) => cellsOf(row).map((cell) => `${nameOf(row)} ${cell}`));
  const long = cells.filter((cell) => cell.endsWith(' cut-600'));
  const others = cells.filter((cell) => !long.includes(cell));
  const listed =
    others.length === 0 ? '' : ` and ${others.map((cell) => `\`${cell}\``).join(', ')}`;
  const late = lines.filter(({ outcome }) => outcome.lateMs > mostLateMs).length;
  const bounds = `trials timers were more than ${mostLateMs / 1000} s late`;
  const marked =
    late === 0
      ? `In none of ${lines.length} ${bounds}.`
      : `In ${late} of ${lines.length} ${bounds}: their times are upper bounds.`;
  if (cells.length === 0) return `${marked} Each of ${every.length} cells was tried.`;
  return `${marked}\n\nNot run, of ${every.length} cells: \`cut-600\` in ${long.length} rows${listed}.`;
}

const declared = summaries.flatMap((row) => {
  const transport = transports.find((each) => each === row.transport);
  const ways: TransportDeclaration['revocations'] | undefined =
    transport && transportOf[transport].revocations;
  const revocation = ways?.[row.revocation];
  return revocation === undefined ? [] : [{ ...row, revocation, name: row.revocation }];
});

test.each(declared)('$transport, $name: the mode that a run uses is the measured one', (row) => {
  const { worth, victim, endsAtConnect }: Revocation = row.revocation;
  expect(row.worth).toMatch(new RegExp(`^${worth}`));
  expect(row.worth.includes('hangs')).toBe(victim === 'hangs');
  expect(row.worth.includes('until connected again')).toBe(endsAtConnect === true);
});

// Mend either by: npx vitest run -u --project unit test/docs
test('the page is made from the store', async () => {
  const table = tableOf(summaries.filter((row) => !isKernel(row)));
  const made = filled(read(page), { trials: `\n${table}\n\n${missing()}\n` });
  await expect(made).toMatchFileSnapshot(join(root, page));
});

const kernelPage = 'docs/internals/kernel-initiators.md';
test('the page of kernel initiators is made from the store', async () => {
  const made = filled(read(kernelPage), {
    trials: `\n\n${tableOf(summaries.filter(isKernel))}\n`,
  });
  await expect(made).toMatchFileSnapshot(join(root, kernelPage));
});

test.each(['light', 'dark'] as const)('the %s picture is made from the store', async (look) => {
  const file = join(root, `docs/images/real-storage-${look}.svg`);
  await expect(heatMap(summaries, look)).toMatchFileSnapshot(file);
});
