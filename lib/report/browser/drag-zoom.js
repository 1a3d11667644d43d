/** Dragging over the time axis chooses a stretch of it; the wheel is the page's unless Ctrl is held. */

/** Less is a click. */
const leastDragPx = 4;

/**
 * @param {any} holder  the chart's element
 * @param {{ secondsAt: (x: number) => number, topPx: number, show: (fromS: number, toS: number) => void }} axis
 */
export function dragZoom(holder, { secondsAt, topPx, show }) {
  const band = holder.ownerDocument.createElement('div');
  band.className = 'chosen';
  band.hidden = true;
  holder.append(band);
  /** @type {number | undefined} */
  let fromX;
  const place = (/** @type {any} */ { clientX, clientY }) => {
    const box = holder.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  };
  // A finger scrolls the page, and two zoom; above the lanes is the slider.
  holder.addEventListener('pointerdown', (/** @type {any} */ event) => {
    const { x, y } = place(event);
    if (event.pointerType === 'mouse' && event.button === 0 && y > topPx) fromX = x;
  });
  holder.addEventListener('pointermove', (/** @type {any} */ event) => {
    if (fromX === undefined) return;
    const { x } = place(event);
    if (band.hidden && Math.abs(x - fromX) < leastDragPx) return;
    if (band.hidden) holder.setPointerCapture(event.pointerId);
    band.hidden = false;
    band.style.left = `${Math.min(x, fromX)}px`;
    band.style.width = `${Math.abs(x - fromX)}px`;
  });
  const end = (/** @type {any} */ event) => {
    const start = fromX;
    fromX = undefined;
    if (band.hidden || start === undefined) return;
    band.hidden = true;
    if (event.type === 'pointercancel') return;
    const ends = [secondsAt(start), secondsAt(place(event).x)];
    show(Math.min(...ends), Math.max(...ends));
  };
  holder.addEventListener('pointerup', end);
  holder.addEventListener('pointercancel', end);
  // ECharts stops every wheel over a chart that can zoom.
  for (const name of ['wheel', 'mousewheel']) {
    holder.addEventListener(
      name,
      (/** @type {any} */ event) => {
        if (!event.ctrlKey) event.stopPropagation();
      },
      { capture: true },
    );
  }
}
