/** Tables that show one page of very many rows: raw records, and the operations in view of the time axis. */
import {
  describeOperation,
  outcomeCodes,
  outcomeMask,
  type OperationColumns,
} from '../axis/operations.ts';
import type { RecordRow } from '../axis/timeline.ts';

const rowsOfPage = 100;
const number = (value: number): string => value.toLocaleString('en-US');
export const find = (parent: ParentNode, selector: string): HTMLElement =>
  parent.querySelector(selector) as HTMLElement;

interface ShownRow {
  readonly id?: string;
  readonly cells: readonly (readonly [text: string, style: string])[];
}

function toElement({ id, cells }: ShownRow): HTMLElement {
  const row = document.createElement('tr');
  if (id !== undefined) row.id = id;
  for (const [text, style] of cells) {
    const cell = row.insertCell();
    cell.textContent = text;
    cell.className = style;
  }
  return row;
}

/** `show` draws the page that holds the row of that index. */
function pagedTable<T>(
  section: HTMLElement,
  describe: (row: T) => ShownRow,
): { show(rows: ArrayLike<T>, ofAll: number, index?: number): void } {
  const [previous, next] = ['previous', 'next'].map(
    (name) => find(section, `[data-page=${name}]`) as HTMLButtonElement,
  ) as [HTMLButtonElement, HTMLButtonElement];
  let rows: ArrayLike<T> = [];
  let total = 0;
  let first = 0;
  const draw = (): void => {
    const last = Math.min(first + rowsOfPage, rows.length);
    const shown: T[] = Array.prototype.slice.call(rows, first, last);
    find(section, 'tbody').replaceChildren(...shown.map((row) => toElement(describe(row))));
    const range = rows.length === 0 ? 'none' : `${number(first + 1)} to ${number(last)}`;
    find(section, '[data-count]').textContent =
      `${range} of ${number(rows.length)} that fit, ${number(total)} in all`;
    previous.disabled = first === 0;
    next.disabled = last === rows.length;
  };
  const turn = (by: number) => (): void => {
    first += by;
    draw();
  };
  previous.addEventListener('click', turn(-rowsOfPage));
  next.addEventListener('click', turn(rowsOfPage));
  return {
    show(some, ofAll, index = 0): void {
      [rows, total, first] = [some, ofAll, index - (index % rowsOfPage)];
      draw();
    },
  };
}

export function recordsView(
  section: HTMLDetailsElement,
  records: readonly RecordRow[],
  view: () => readonly [fromS: number, toS: number],
): { update(): void; find(id: number): void } {
  const filter = find(section, '[data-filter]') as HTMLInputElement;
  const onlyView = find(section, '[data-only-view]') as HTMLInputElement;
  const table = pagedTable<RecordRow>(section, ([id, atS, what, source, text]) => ({
    id: `r${id}`,
    cells: [
      [String(id), 'number'],
      [`${atS.toFixed(3)} s`, 'number'],
      [what, ''],
      [source, ''],
      [text, 'text mono'],
    ],
  }));
  const update = (): void => {
    if (!section.open) return;
    const wanted = filter.value.toLowerCase();
    const [fromS, toS] = onlyView.checked ? view() : [-Infinity, Infinity];
    const fits = records.filter(
      ([, atS, ...words]) =>
        atS >= fromS && atS <= toS && words.join(' ').toLowerCase().includes(wanted),
    );
    table.show(fits, records.length);
  };
  // Another view must not hide a record that was looked up.
  const followView = (): void => {
    if (onlyView.checked) update();
  };
  section.addEventListener('toggle', followView);
  filter.addEventListener('input', update);
  onlyView.addEventListener('change', update);
  table.show(records, records.length);
  return {
    update: followView,
    /** Shows one record among its neighbours. */
    find(id): void {
      filter.value = '';
      onlyView.checked = false;
      table.show(records, records.length, id);
    },
  };
}

export function operationsView(
  section: HTMLDetailsElement,
  columns: OperationColumns,
  inView: () => readonly [from: number, to: number],
): { update(): void } {
  const { latencyUs, flags } = columns;
  const outcomes = find(section, '[data-outcome]') as HTMLSelectElement;
  const slowest = find(section, '[data-slowest]') as HTMLInputElement;
  const table = pagedTable<number>(section, (index) => {
    const { kind: what, ...operation } = describeOperation(columns, index);
    const { endS, latencyMs, id, node, outcome, error } = operation;
    return {
      cells: [
        [`${endS.toFixed(6)} s`, 'number'],
        [`${latencyMs.toFixed(3)} ms`, 'number'],
        [id, 'mono'],
        [node, ''],
        [what, ''],
        [outcome, outcome === 'ok' ? '' : 'alarm-text'],
        [error, 'text mono'],
      ],
    };
  });
  const update = (): void => {
    if (!section.open) return;
    const [from, to] = inView();
    const wanted = outcomeCodes.findIndex((code) => code === outcomes.value);
    const indexes = new Uint32Array(to - from);
    let fits = 0;
    for (let i = from; i < to; i++) {
      if (wanted === -1 || ((flags[i] ?? 0) & outcomeMask) === wanted) indexes[fits++] = i;
    }
    const rows = indexes.subarray(0, fits);
    if (slowest.checked) rows.sort((a, b) => (latencyUs[b] ?? 0) - (latencyUs[a] ?? 0));
    table.show(rows, to - from);
  };
  section.addEventListener('toggle', update);
  outcomes.addEventListener('change', update);
  slowest.addEventListener('change', update);
  return { update };
}
