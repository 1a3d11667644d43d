/** A table that shows one page of very many rows. */

/** @type {any} */
const { document: tableDocument } = /** @type {any} */ (globalThis);

const rowsOfPage = 100;

/**
 * @template T
 * @param {any} section  holds a tbody, `[data-page=previous]`, `[data-page=next]` and `[data-count]`
 * @param {(row: T) => { id?: string, cells: readonly (readonly [text: string, style: string])[] }} describe
 */
export function pagedTable(section, describe) {
  const body = section.querySelector('tbody');
  const count = section.querySelector('[data-count]');
  const previous = section.querySelector('[data-page=previous]');
  const next = section.querySelector('[data-page=next]');
  /** @type {ArrayLike<T>} */
  let rows = [];
  let total = 0;
  let first = 0;

  const toElement = (/** @type {T} */ row) => {
    const element = tableDocument.createElement('tr');
    const { id, cells } = describe(row);
    if (id !== undefined) element.id = id;
    for (const [text, style] of cells) {
      const cell = tableDocument.createElement('td');
      cell.textContent = text;
      cell.className = style;
      element.append(cell);
    }
    return element;
  };
  const draw = () => {
    const last = Math.min(first + rowsOfPage, rows.length);
    body.replaceChildren(...Array.prototype.slice.call(rows, first, last).map(toElement));
    const shown = rows.length === 0 ? 'none' : `${number(first + 1)} to ${number(last)}`;
    count.textContent = `${shown} of ${number(rows.length)} that fit, ${number(total)} in all`;
    previous.disabled = first === 0;
    next.disabled = last === rows.length;
  };
  const turn = (/** @type {number} */ by) => {
    first += by;
    draw();
  };
  previous.addEventListener('click', () => turn(-rowsOfPage));
  next.addEventListener('click', () => turn(rowsOfPage));
  return {
    /** Shows the page that holds the row of that index. */
    show(/** @type {ArrayLike<T>} */ some, /** @type {number} */ ofAll, index = 0) {
      rows = some;
      total = ofAll;
      first = index - (index % rowsOfPage);
      draw();
    },
  };
}

const number = (/** @type {number} */ value) => value.toLocaleString('en-US');
