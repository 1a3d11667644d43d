/** What a run's page does when JavaScript runs: the time axis, the theme, tables of records and operations. */
import type * as ECharts from 'echarts';
import {
  type PlotData,
  plotOperations,
  type PreparedOperations,
  prepareOperations,
  unpackOperations,
} from '../axis/operations.ts';
import type { Role } from '../axis/palette.ts';
import {
  type Look,
  type PageData,
  rowsOf,
  type Timeline,
  timelineHeight,
  timelineOption,
  topSpace,
  viewOption,
} from '../axis/timeline.ts';
import { operationsView, recordsView } from './tables.ts';

// ECharts keeps what it measured by the text itself, in plain objects (lib/report/pictures.ts).
Reflect.deleteProperty(Object.prototype, '__proto__');

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const details = (id: string): HTMLDetailsElement => byId(id) as HTMLDetailsElement;
const root = document.documentElement;
const darkPreferred = matchMedia('(prefers-color-scheme: dark)');
const isDark = (): boolean =>
  (root.dataset['theme'] ?? (darkPreferred.matches ? 'dark' : 'light')) === 'dark';

function unpacked(id: string): Response {
  const packed = new Blob([Uint8Array.fromBase64(byId(id).textContent)]).stream();
  return new Response(packed.pipeThrough(new DecompressionStream('deflate-raw')));
}

const { timeline, operations, records } = (await unpacked('data').json()) as PageData;
const bytes = new Uint8Array(await unpacked('bytes').arrayBuffer());
const prepared = prepareOperations(unpackOperations({ about: operations, bytes }));

// From here on nothing can be missing: the pictures make room for what moves.
root.classList.add('interactive');

let viewS: readonly [number, number] = [timeline.fromS, timeline.toS];
let inView: readonly [number, number] = [0, operations.count];
const recordTable = recordsView(details('raw'), records, () => viewS);
const operationTable = operationsView(details('operations'), prepared.columns, () => inView);
let pendingUpdate = 0;

function linkedRange(): readonly [number, number] | undefined {
  const [, from, to] = /^#t=(-?[\d.]+),(-?[\d.]+)$/.exec(location.hash) ?? [];
  return from === undefined ? undefined : [Number(from), Number(to)];
}

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

declare const echarts: typeof ECharts;

/** Nothing is nearer than this, seconds. */
const leastSpanS = 0.001;

export interface TimelineView {
  draw(): void;
  show(fromS: number, toS: number): void;
  /** Opens or closes the lanes of a role; returns whether they are open now. */
  toggle(role: Role): boolean;
  /** What a button or a key stands for. */
  act(name: string): void;
}

export function timelineView(
  holder: HTMLElement,
  timeline: Timeline,
  prepared: PreparedOperations,
  how: {
    readonly isDark: () => boolean;
    /** Shown first, seconds after the fault. */
    readonly first: readonly [number, number];
    readonly onView: (view: PlotData, fromS: number, toS: number) => void;
  },
): TimelineView {
  const closed = new Set<Role>(['other']);
  const chart = echarts.init(holder, undefined, { renderer: 'canvas' });
  const span = timeline.toS - timeline.fromS;
  const within = (from: number, to: number): readonly [number, number] => {
    const width = Math.min(Math.max(to - from, leastSpanS), span);
    const start = Math.min(Math.max(from, timeline.fromS), timeline.toS - width);
    return [start, start + width];
  };
  let [fromS, toS] = within(...how.first);
  const look = (): Look => ({
    ...{ dark: how.isDark(), compact: holder.clientWidth < 640, closed },
    ...{ widthPx: holder.clientWidth, fromS, toS },
  });
  const draw = (): void => {
    const height = `${timelineHeight(timeline, look())}px`;
    if (holder.style.height !== height) {
      holder.style.height = height;
      chart.resize();
    }
    const view = plotOperations(prepared, fromS, toS);
    chart.setOption(timelineOption(timeline, prepared, view, look()), { notMerge: true });
    chart.dispatchAction({ type: 'dataZoom', startValue: fromS, endValue: toS });
    how.onView(view, fromS, toS);
  };
  const show = (from: number, to: number): void => {
    const [startValue, endValue] = within(from, to);
    chart.dispatchAction({ type: 'dataZoom', startValue, endValue });
  };
  let isPlanned = false;
  const redrawPlots = (): void => {
    isPlanned = false;
    const view = plotOperations(prepared, fromS, toS);
    chart.setOption(viewOption(timeline, prepared, view, look()));
    how.onView(view, fromS, toS);
  };
  chart.on('dataZoom', () => {
    const { dataZoom } = chart.getOption() as {
      dataZoom: { startValue: number; endValue: number }[];
    };
    const [{ startValue, endValue } = { startValue: fromS, endValue: toS }] = dataZoom;
    if (startValue === fromS && endValue === toS) return;
    [fromS, toS] = [startValue, endValue];
    if (!isPlanned) requestAnimationFrame(redrawPlots);
    isPlanned = true;
  });
  const toggle = (role: Role): boolean => {
    if (!closed.delete(role)) closed.add(role);
    draw();
    return !closed.has(role);
  };
  chart.on('click', { componentType: 'yAxis' }, ({ value }) => {
    const row = rowsOf(timeline, closed).find(({ heading, label }) => heading && label === value);
    if (row !== undefined) toggle(row.role);
  });
  dragZoom(holder, (x) => chart.convertFromPixel({ xAxisIndex: 0 }, x), show);
  new ResizeObserver(() => {
    chart.resize();
    draw();
  }).observe(holder.parentElement ?? holder);

  const zoomBy = (factor: number) => (): void => {
    const [middle, half] = [(fromS + toS) / 2, ((toS - fromS) * factor) / 2];
    show(middle - half, middle + half);
  };
  const move = (share: number) => (): void =>
    show(fromS + (toS - fromS) * share, toS + (toS - fromS) * share);
  const actions: Readonly<Record<string, () => void>> = {
    whole: () => show(timeline.fromS, timeline.toS),
    first: () => show(...timeline.first),
    fault: () => show(-5, 60),
    handover() {
      const at = timeline.exposure?.fromS ?? timeline.toS / 2;
      show(at - 10, (timeline.exposure?.toS ?? at) + 15);
    },
    in: zoomBy(0.5),
    out: zoomBy(2),
    left: move(-0.5),
    right: move(0.5),
  };
  return { draw, show, toggle, act: (name) => actions[name]?.() };
}

/** Less is a click. */
const leastDragPx = 4;

/** Dragging over the time axis chooses a stretch of it; the wheel is the page's unless Ctrl is held. */
function dragZoom(
  holder: HTMLElement,
  secondsAt: (x: number) => number,
  show: (fromS: number, toS: number) => void,
): void {
  const band = document.createElement('div');
  band.className = 'chosen';
  band.hidden = true;
  holder.append(band);
  let fromX: number | undefined;
  const xOf = ({ clientX }: PointerEvent): number => clientX - holder.getBoundingClientRect().left;
  // A finger scrolls the page, and two zoom; above the lanes is the slider.
  holder.addEventListener('pointerdown', (event) => {
    const y = event.clientY - holder.getBoundingClientRect().top;
    if (event.pointerType === 'mouse' && event.button === 0 && y > topSpace) fromX = xOf(event);
  });
  holder.addEventListener('pointermove', (event) => {
    if (fromX === undefined) return;
    const x = xOf(event);
    if (band.hidden && Math.abs(x - fromX) < leastDragPx) return;
    if (band.hidden) holder.setPointerCapture(event.pointerId);
    band.hidden = false;
    band.style.left = `${Math.min(x, fromX)}px`;
    band.style.width = `${Math.abs(x - fromX)}px`;
  });
  const end = (event: PointerEvent): void => {
    const start = fromX;
    fromX = undefined;
    if (band.hidden || start === undefined) return;
    band.hidden = true;
    if (event.type === 'pointercancel') return;
    const ends = [secondsAt(start), secondsAt(xOf(event))];
    show(Math.min(...ends), Math.max(...ends));
  };
  holder.addEventListener('pointerup', end);
  holder.addEventListener('pointercancel', end);
  // ECharts stops every wheel over a chart that can zoom.
  for (const name of ['wheel', 'mousewheel'] as const) {
    const pass = (event: Event): void => {
      if (!(event as WheelEvent).ctrlKey) event.stopPropagation();
    };
    holder.addEventListener(name, pass, { capture: true });
  }
}
