/**
 * Tables of what the history holds: raw records, and single operations in the view of the time axis.
 *
 * @import { OperationColumns } from '../types.ts'
 */
import { describeOperation, outcomeCodes, outcomeMask } from './operations.js';
import { pagedTable } from './paged-table.js';

/** @typedef {[id: number, atS: number, kind: string, source: string, text: string]} RecordRow */
/** @typedef {() => readonly [fromS: number, toS: number]} View  what the time axis shows */

/**
 * @param {any} section
 * @param {readonly RecordRow[]} records
 * @param {View} view
 */
export function recordsView(section, records, view) {
  const filter = section.querySelector('[data-filter]');
  const onlyView = section.querySelector('[data-only-view]');
  const table = pagedTable(section, (/** @type {RecordRow} */ [id, atS, kind, source, text]) => ({
    id: `r${id}`,
    cells: [
      [String(id), 'number'],
      [`${atS.toFixed(3)} s`, 'number'],
      [kind, ''],
      [source, ''],
      [text, 'text mono'],
    ],
  }));
  const update = () => {
    if (!section.open) return;
    const wanted = filter.value.toLowerCase();
    const [fromS, toS] = onlyView.checked ? view() : [-Infinity, Infinity];
    const fits = records.filter(
      ([, atS, ...words]) =>
        atS >= fromS && atS <= toS && words.join(' ').toLowerCase().includes(wanted),
    );
    table.show(fits, records.length);
  };
  // The view changes nothing else: a record that was looked up must stay in sight.
  const followView = () => {
    if (onlyView.checked) update();
  };
  section.addEventListener('toggle', followView);
  filter.addEventListener('input', update);
  onlyView.addEventListener('change', update);
  table.show(records, records.length);
  return {
    update: followView,
    /** Shows one record among its neighbours. */
    find(/** @type {number} */ id) {
      filter.value = '';
      onlyView.checked = false;
      table.show(records, records.length, id);
    },
  };
}

/**
 * @param {any} section
 * @param {OperationColumns} columns
 * @param {() => readonly [from: number, to: number]} inView  indexes of the operations in view
 */
export function operationsView(section, columns, inView) {
  const { latencyUs, flags } = columns;
  const outcome = section.querySelector('[data-outcome]');
  const slowest = section.querySelector('[data-slowest]');
  const table = pagedTable(section, (/** @type {number} */ index) => {
    const { endS, latencyMs, id, node, kind, outcome, error } = describeOperation(columns, index);
    return {
      cells: [
        [`${endS.toFixed(6)} s`, 'number'],
        [`${latencyMs.toFixed(3)} ms`, 'number'],
        [id, 'mono'],
        [node, ''],
        [kind, ''],
        [outcome, outcome === 'ok' ? '' : 'alarm-text'],
        [error, 'text mono'],
      ],
    };
  });
  const update = () => {
    if (!section.open) return;
    const [from, to] = inView();
    const wanted = outcomeCodes.indexOf(outcome.value);
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
  outcome.addEventListener('change', update);
  slowest.addEventListener('change', update);
  return { update };
}
