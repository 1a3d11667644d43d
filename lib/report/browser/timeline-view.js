/**
 * The interactive time axis: what it shows, zoom by button, key and pointer.
 *
 * @import { PlotData, PreparedOperations, Role, Timeline } from '../types.ts'
 */
import { plotOperations } from './bins.js';
import { dragZoom } from './drag-zoom.js';
import { timelineHeight, timelineOption, topSpace, viewOption } from './timeline-option.js';
import { rowsOf } from './timeline-rows.js';

/** @type {any} */
const chartPage = globalThis;

/** Nothing is nearer than this, seconds. */
const leastSpanS = 0.001;

/**
 * What the buttons and keys do, by name.
 * @param {Timeline} timeline
 * @param {() => [number, number]} inView
 * @param {(fromS: number, toS: number) => void} show
 * @returns {Record<string, () => void>}
 */
function zoomActions({ fromS, toS, first, exposure }, inView, show) {
  const zoomBy = (/** @type {number} */ factor) => {
    const [from, to] = inView();
    const middle = (from + to) / 2;
    const half = ((to - from) * factor) / 2;
    show(middle - half, middle + half);
  };
  const move = (/** @type {number} */ share) => {
    const [from, to] = inView();
    show(from + (to - from) * share, to + (to - from) * share);
  };
  return {
    whole: () => show(fromS, toS),
    first: () => show(...first),
    fault: () => show(-5, 60),
    handover: () => {
      const at = exposure?.fromS ?? toS / 2;
      show(at - 10, (exposure?.toS ?? at) + 15);
    },
    in: () => zoomBy(0.5),
    out: () => zoomBy(2),
    left: () => move(-0.5),
    right: () => move(0.5),
  };
}

/** Of these only the heading is shown at first. @type {readonly Role[]} */
const closedAtFirst = ['other'];

/**
 * @param {any} holder
 * @param {Timeline} timeline
 * @param {PreparedOperations} prepared
 * @param {{
 *   isDark: () => boolean,
 *   first: readonly [number, number],
 *   onView: (view: PlotData, fromS: number, toS: number) => void,
 * }} how  `first`: what is shown first, seconds after the fault
 */
export function timelineView(holder, timeline, prepared, { isDark, first, onView }) {
  /** @type {Set<Role>} */
  const closed = new Set(closedAtFirst);
  const chart = chartPage.echarts.init(holder, undefined, { renderer: 'canvas' });
  const span = timeline.toS - timeline.fromS;

  const within = (/** @type {number} */ from, /** @type {number} */ to) => {
    const width = Math.min(Math.max(to - from, leastSpanS), span);
    const start = Math.min(Math.max(from, timeline.fromS), timeline.toS - width);
    return /** @type {[number, number]} */ ([start, start + width]);
  };
  let [fromS, toS] = within(...first);

  const plot = () => plotOperations(prepared, fromS, toS);
  const look = () => ({
    ...{ dark: isDark(), compact: holder.clientWidth < 640, closed },
    ...{ widthPx: holder.clientWidth, fromS, toS },
  });
  const draw = () => {
    const height = `${timelineHeight(timeline, look())}px`;
    if (holder.style.height !== height) {
      holder.style.height = height;
      chart.resize();
    }
    const view = plot();
    chart.setOption(timelineOption(timeline, prepared, view, look()), { notMerge: true });
    chart.dispatchAction({ type: 'dataZoom', startValue: fromS, endValue: toS });
    onView(view, fromS, toS);
  };
  const show = (/** @type {number} */ from, /** @type {number} */ to) => {
    const [startValue, endValue] = within(from, to);
    chart.dispatchAction({ type: 'dataZoom', startValue, endValue });
  };
  let isPlanned = false;
  const redrawPlots = () => {
    isPlanned = false;
    const view = plot();
    chart.setOption(viewOption(timeline, prepared, view, look()));
    onView(view, fromS, toS);
  };
  chart.on('dataZoom', () => {
    const { startValue, endValue } = chart.getOption().dataZoom[0];
    if (startValue === fromS && endValue === toS) return;
    [fromS, toS] = [startValue, endValue];
    if (!isPlanned) chartPage.requestAnimationFrame(redrawPlots);
    isPlanned = true;
  });

  /** Opens or closes the lanes of a role; tells whether they are open now. */
  const toggle = (/** @type {Role} */ role) => {
    if (!closed.delete(role)) closed.add(role);
    draw();
    return !closed.has(role);
  };
  chart.on('click', { componentType: 'yAxis' }, (/** @type {any} */ { value }) => {
    const row = rowsOf(timeline, closed).find(({ heading, label }) => heading && label === value);
    if (row !== undefined) toggle(row.role);
  });
  dragZoom(holder, {
    secondsAt: (x) => chart.convertFromPixel({ xAxisIndex: 0 }, x),
    topPx: topSpace,
    show,
  });

  const actions = zoomActions(timeline, () => [fromS, toS], show);
  new chartPage.ResizeObserver(() => {
    chart.resize();
    draw();
  }).observe(holder.parentElement);
  return { draw, show, toggle, act: (/** @type {string} */ name) => actions[name]?.() };
}
