/**
 * The interactive time axis: what it shows, zoom by button, key and pointer.
 *
 * @import { PlotData, PreparedOperations, Timeline } from '../types.ts'
 */
import { plotOperations } from './bins.js';
import { timelineHeight, timelineOption, viewOption } from './timeline-option.js';

/** @type {any} */
const chartPage = globalThis;

/** Nothing is nearer than this, seconds. */
const leastSpanS = 0.001;

/**
 * @param {any} holder
 * @param {Timeline} timeline
 * @param {PreparedOperations} prepared
 * @param {{ isDark: () => boolean, onView: (view: PlotData, fromS: number, toS: number) => void }} how
 */
export function timelineView(holder, timeline, prepared, { isDark, onView }) {
  holder.style.height = `${timelineHeight(timeline)}px`;
  const chart = chartPage.echarts.init(holder, undefined, { renderer: 'canvas' });
  const span = timeline.toS - timeline.fromS;
  let [fromS, toS] = [timeline.fromS, timeline.toS];

  const plot = () => plotOperations(prepared, fromS, toS);
  const draw = () => {
    const look = { dark: isDark(), compact: holder.clientWidth < 640 };
    const view = plot();
    chart.setOption(timelineOption(timeline, prepared, view, look), { notMerge: true });
    chart.dispatchAction({ type: 'dataZoom', startValue: fromS, endValue: toS });
    onView(view, fromS, toS);
  };
  const show = (/** @type {number} */ from, /** @type {number} */ to) => {
    const width = Math.min(Math.max(to - from, leastSpanS), span);
    const start = Math.min(Math.max(from, timeline.fromS), timeline.toS - width);
    chart.dispatchAction({ type: 'dataZoom', startValue: start, endValue: start + width });
  };
  let isPlanned = false;
  const redrawPlots = () => {
    isPlanned = false;
    const view = plot();
    chart.setOption(viewOption(timeline, prepared, view, isDark()));
    onView(view, fromS, toS);
  };
  chart.on('dataZoom', () => {
    const { startValue, endValue } = chart.getOption().dataZoom[0];
    if (startValue === fromS && endValue === toS) return;
    [fromS, toS] = [startValue, endValue];
    if (!isPlanned) chartPage.requestAnimationFrame(redrawPlots);
    isPlanned = true;
  });

  const zoomBy = (/** @type {number} */ factor) => {
    const middle = (fromS + toS) / 2;
    const half = ((toS - fromS) * factor) / 2;
    show(middle - half, middle + half);
  };
  const move = (/** @type {number} */ share) =>
    show(fromS + (toS - fromS) * share, toS + (toS - fromS) * share);
  /** @type {Record<string, () => void>} */
  const actions = {
    whole: () => show(timeline.fromS, timeline.toS),
    fault: () => show(-5, 60),
    handover: () => {
      const at = timeline.exposure?.fromS ?? timeline.toS / 2;
      show(at - 10, (timeline.exposure?.toS ?? at) + 15);
    },
    in: () => zoomBy(0.5),
    out: () => zoomBy(2),
    left: () => move(-0.5),
    right: () => move(0.5),
  };
  new chartPage.ResizeObserver(() => {
    chart.resize();
    draw();
  }).observe(holder);
  return { draw, act: (/** @type {string} */ name) => actions[name]?.() };
}
