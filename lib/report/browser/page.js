/**
 * What the page does when JavaScript runs: the time axis, the theme, tables of records and
 * operations. Inlined after the other files; `echarts` is ECharts' own global.
 *
 * @import { PlotData, Timeline } from '../types.ts'
 */
import { prepareOperations } from './bins.js';
import { unpackOperations } from './operations.js';
import { payloadBytes, payloadJson } from './payload.js';
import { operationsView, recordsView } from './records-view.js';
import { timelineView } from './timeline-view.js';

// ECharts keeps what it measured by the text itself, in plain objects (lib/report/pictures.ts).
Reflect.deleteProperty(Object.prototype, '__proto__');

/** @type {any} */
const page = globalThis;
const { document } = page;
const byId = (/** @type {string} */ id) => document.getElementById(id);
const root = document.documentElement;
const darkPreferred = page.matchMedia('(prefers-color-scheme: dark)');

const isDark = () => (root.dataset.theme ?? (darkPreferred.matches ? 'dark' : 'light')) === 'dark';

/** @type {{ timeline: Timeline, operations: import('../types.ts').OperationsAbout }} */
const { timeline, operations } = payloadJson('timeline-data');
const prepared = prepareOperations(
  unpackOperations(await payloadBytes('operations-data'), operations),
);
const records = JSON.parse(new page.TextDecoder().decode(await payloadBytes('records-data')));

// From here on nothing can be missing: the pictures make room for what moves.
root.classList.add('interactive');

/** @type {readonly [number, number]} */
let viewS = [timeline.fromS, timeline.toS];
/** @type {PlotData['inView']} */
let inView = [0, operations.count];
const recordTable = recordsView(byId('raw'), records, () => viewS);
const operationTable = operationsView(byId('operations'), prepared.columns, () => inView);
let pendingUpdate = 0;

/** The stretch that a link names, `#t=400,460`, seconds after the fault; else the run's own. */
function linkedRange() {
  const [, from, to] = /^#t=(-?[\d.]+),(-?[\d.]+)$/.exec(page.location.hash) ?? [];
  return from === undefined ? undefined : /** @type {const} */ ([Number(from), Number(to)]);
}

/** The number of the record that a link names, `#r123`. */
const linkedRecord = () => /^#r(\d+)$/.exec(page.location.hash)?.[1];

/** The address names what is in view, so that a link leads there. */
function nameRange(/** @type {number} */ fromS, /** @type {number} */ toS) {
  const isFirst = fromS === timeline.first[0] && toS === timeline.first[1];
  if (linkedRecord() !== undefined || (isFirst && linkedRange() === undefined)) return;
  const digits = toS - fromS < 10 ? 3 : 1;
  page.history.replaceState(null, '', `#t=${fromS.toFixed(digits)},${toS.toFixed(digits)}`);
}

const axis = timelineView(byId('timeline'), timeline, prepared, {
  isDark,
  first: linkedRange() ?? timeline.first,
  onView(view, fromS, toS) {
    viewS = [fromS, toS];
    inView = view.inView;
    const digits = toS - fromS < 10 ? 3 : 1;
    const count = inView[1] - inView[0];
    byId('range').textContent =
      `${fromS.toFixed(digits)} s to ${toS.toFixed(digits)} s after the fault, ` +
      `${count.toLocaleString('en-US')} operations`;
    page.clearTimeout(pendingUpdate);
    pendingUpdate = page.setTimeout(() => {
      recordTable.update();
      operationTable.update();
      nameRange(fromS, toS);
    }, 150);
  },
});
for (const button of document.querySelectorAll('button[data-zoom]')) {
  button.addEventListener('click', () => axis.act(button.dataset.zoom));
}
for (const button of document.querySelectorAll('button[data-role]')) {
  button.addEventListener('click', () => {
    button.setAttribute('aria-pressed', String(axis.toggle(button.dataset.role)));
  });
}
/** @type {Record<string, string>} */
const keys = { '+': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', 0: 'whole' };
byId('timeline').addEventListener('keydown', (/** @type {any} */ event) => {
  const name = keys[event.key];
  if (name === undefined) return;
  event.preventDefault();
  axis.act(name);
});
darkPreferred.addEventListener('change', axis.draw);
byId('theme').addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  axis.draw();
});

/** A link to a raw record opens the closed section it is in, at the page that holds it. */
function openTarget() {
  const range = linkedRange();
  if (range !== undefined) axis.show(...range);
  const id = linkedRecord();
  if (id === undefined) return;
  byId('raw').open = true;
  recordTable.find(Number(id));
  document.querySelector('tr.linked')?.classList.remove('linked');
  const row = byId(`r${id}`);
  row?.classList.add('linked');
  row?.scrollIntoView({ block: 'center' });
}
page.addEventListener('hashchange', openTarget);
openTarget();
