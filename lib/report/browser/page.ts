/** What a run's page does when JavaScript runs: the time axis, the theme, tables of records and operations. */
import { prepareOperations, unpackOperations } from '../axis/operations.ts';
import type { Role } from '../axis/palette.ts';
import type { PageData } from '../axis/timeline.ts';
import { operationsView, recordsView } from './tables.ts';
import { timelineView } from './timeline-view.ts';

// ECharts keeps what it measured by the text itself, in plain objects (lib/report/pictures.ts).
Reflect.deleteProperty(Object.prototype, '__proto__');

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const details = (id: string): HTMLDetailsElement => byId(id) as HTMLDetailsElement;
const root = document.documentElement;
const darkPreferred = matchMedia('(prefers-color-scheme: dark)');
const isDark = (): boolean =>
  (root.dataset['theme'] ?? (darkPreferred.matches ? 'dark' : 'light')) === 'dark';

/** Of the element that holds deflated JSON in base64. */
async function pageData(): Promise<PageData> {
  const packed = Uint8Array.from(atob(byId('data').textContent), (each) => each.charCodeAt(0));
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return (await new Response(inflated).json()) as PageData;
}

const { timeline, operations, records } = await pageData();
const prepared = prepareOperations(unpackOperations(operations));

// From here on nothing can be missing: the pictures make room for what moves.
root.classList.add('interactive');

let viewS: readonly [number, number] = [timeline.fromS, timeline.toS];
let inView: readonly [number, number] = [0, operations.endUs.length];
const recordTable = recordsView(details('raw'), records, () => viewS);
const operationTable = operationsView(details('operations'), prepared.columns, () => inView);
let pendingUpdate = 0;

/** The stretch that a link names, `#t=400,460`, seconds after the fault. */
function linkedRange(): readonly [number, number] | undefined {
  const [, from, to] = /^#t=(-?[\d.]+),(-?[\d.]+)$/.exec(location.hash) ?? [];
  return from === undefined ? undefined : [Number(from), Number(to)];
}

/** The number of the record that a link names, `#r123`. */
const linkedRecord = (): string | undefined => /^#r(\d+)$/.exec(location.hash)?.[1];

/** The address names what is in view, so that a link leads there. */
function nameRange(from: string, to: string): void {
  const isFirst = viewS[0] === timeline.first[0] && viewS[1] === timeline.first[1];
  if (linkedRecord() !== undefined || (isFirst && linkedRange() === undefined)) return;
  history.replaceState(null, '', `#t=${from},${to}`);
}

const axis = timelineView(byId('timeline'), timeline, prepared, {
  isDark,
  first: linkedRange() ?? timeline.first,
  onView(view, fromS, toS) {
    viewS = [fromS, toS];
    inView = view.inView;
    const [from = '', to = ''] = viewS.map((s) => s.toFixed(toS - fromS < 10 ? 3 : 1));
    const count = (inView[1] - inView[0]).toLocaleString('en-US');
    byId('range').textContent =
      `${from} s to ${to} s after the ${timeline.zero}, ${count} operations`;
    clearTimeout(pendingUpdate);
    pendingUpdate = window.setTimeout(() => {
      recordTable.update();
      operationTable.update();
      nameRange(from, to);
    }, 150);
  },
});
for (const button of document.querySelectorAll<HTMLElement>('button[data-zoom]')) {
  button.addEventListener('click', () => axis.act(button.dataset['zoom'] ?? ''));
}
for (const button of document.querySelectorAll<HTMLElement>('button[data-role]')) {
  button.addEventListener('click', () => {
    button.setAttribute('aria-pressed', String(axis.toggle(button.dataset['role'] as Role)));
  });
}
const keys: Readonly<Record<string, string>> = {
  ...{ '+': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', 0: 'whole' },
};
byId('timeline').addEventListener('keydown', (event) => {
  const name = keys[event.key];
  if (name === undefined) return;
  event.preventDefault();
  axis.act(name);
});
darkPreferred.addEventListener('change', () => axis.draw());
byId('theme').addEventListener('click', () => {
  root.dataset['theme'] = isDark() ? 'light' : 'dark';
  axis.draw();
});

/** A link to a raw record opens the closed section it is in, at the page that holds it. */
function openTarget(): void {
  const range = linkedRange();
  if (range !== undefined) axis.show(...range);
  const id = linkedRecord();
  if (id === undefined) return;
  details('raw').open = true;
  recordTable.find(Number(id));
  document.querySelector('tr.linked')?.classList.remove('linked');
  const row = document.getElementById(`r${id}`);
  row?.classList.add('linked');
  row?.scrollIntoView({ block: 'center' });
}
addEventListener('hashchange', openTarget);
openTarget();
