/** The interactive time axis: what it shows, and how buttons, keys and the pointer change that. */
import type * as ECharts from 'echarts';
import { plotOperations, type PlotData, type PreparedOperations } from '../axis/operations.ts';
import type { Role } from '../axis/palette.ts';
import {
  rowsOf,
  timelineHeight,
  timelineOption,
  topSpace,
  viewOption,
  type Look,
  type Timeline,
} from '../axis/timeline.ts';

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
