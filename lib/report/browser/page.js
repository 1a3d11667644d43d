/**
 * What the page does when JavaScript runs: the interactive time axis, zoom buttons, the theme, the
 * filter of raw records. Inlined after timeline-option.js; `echarts` is ECharts' own global.
 */
import { timelineHeight, timelineOption } from './timeline-option.js';

/** @type {any} */
const page = globalThis;
const { document } = page;
const byId = (/** @type {string} */ id) => document.getElementById(id);
const root = document.documentElement;
const darkPreferred = page.matchMedia('(prefers-color-scheme: dark)');

const isDark = () => (root.dataset.theme ?? (darkPreferred.matches ? 'dark' : 'light')) === 'dark';

function startTimeline() {
  const timeline = JSON.parse(byId('timeline-data').textContent);
  const holder = byId('timeline');
  holder.style.height = `${timelineHeight(timeline)}px`;
  root.classList.add('interactive');
  const chart = page.echarts.init(holder, undefined, { renderer: 'canvas' });
  const span = timeline.toS - timeline.fromS;
  let range = { startValue: timeline.fromS, endValue: timeline.toS };

  const draw = () => {
    const look = { dark: isDark(), compact: holder.clientWidth < 640 };
    chart.setOption(timelineOption(timeline, look), { notMerge: true });
    show(range.startValue, range.endValue);
  };
  const show = (/** @type {number} */ from, /** @type {number} */ to) => {
    const width = Math.min(Math.max(to - from, 0.05), span);
    const start = Math.min(Math.max(from, timeline.fromS), timeline.toS - width);
    chart.dispatchAction({ type: 'dataZoom', startValue: start, endValue: start + width });
  };
  chart.on('dataZoom', () => {
    const { startValue, endValue } = chart.getOption().dataZoom[0];
    range = { startValue, endValue };
    byId('range').textContent = `${startValue.toFixed(1)} s to ${endValue.toFixed(1)} s after the fault`;
  });

  const zoomBy = (/** @type {number} */ factor) => {
    const middle = (range.startValue + range.endValue) / 2;
    const half = ((range.endValue - range.startValue) * factor) / 2;
    show(middle - half, middle + half);
  };
  const move = (/** @type {number} */ share) => {
    const by = (range.endValue - range.startValue) * share;
    show(range.startValue + by, range.endValue + by);
  };
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
  for (const button of document.querySelectorAll('button[data-zoom]')) {
    button.addEventListener('click', () => actions[button.dataset.zoom]?.());
  }
  /** @type {Record<string, string>} */
  const keys = { '+': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', 0: 'whole' };
  holder.addEventListener('keydown', (/** @type {any} */ event) => {
    const name = keys[event.key];
    if (name === undefined) return;
    event.preventDefault();
    actions[name]?.();
  });
  new page.ResizeObserver(() => {
    chart.resize();
    draw();
  }).observe(holder);
  darkPreferred.addEventListener('change', draw);
  byId('theme').addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    draw();
  });
}

function startFilter() {
  const input = byId('raw-filter');
  const count = byId('raw-count');
  const rows = [...document.querySelectorAll('#raw tbody tr')];
  input.addEventListener('input', () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) shown += 1;
    }
    count.textContent = `${shown} of ${rows.length} shown`;
  });
}

/** A link to a raw record opens the closed section it is in. */
function openTarget() {
  const target = page.location.hash === '' ? null : byId(page.location.hash.slice(1));
  const section = target?.closest('details');
  if (section === undefined || section === null) return;
  section.open = true;
  target.scrollIntoView({ block: 'center' });
}

startTimeline();
startFilter();
page.addEventListener('hashchange', openTarget);
openTarget();
