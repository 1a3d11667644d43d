/** The table of cells on a batch's page: sorted by a click on its head, filtered, two compared. */

/** @type {any} */
const { document: batchDocument } = /** @type {any} */ (globalThis);

const table = batchDocument.getElementById('cells');
/** @type {any[]} */
const rows = [...table.tBodies[0].rows];
const heads = [...table.tHead.rows[0].cells];
const words = batchDocument.getElementById('cell-words');
const verdict = batchDocument.getElementById('cell-verdict');
const shownCount = batchDocument.getElementById('cell-count');
const comparison = batchDocument.getElementById('comparison');

/** What a column is sorted by: a number where the cell says one, else its text. */
const keyOf = (/** @type {any} */ row, /** @type {number} */ column) => {
  const cell = row.cells[column];
  const { key } = cell.dataset;
  return key === undefined ? cell.textContent.trim() : key === '' ? -Infinity : Number(key);
};

for (const [column, head] of heads.entries()) {
  head.querySelector('button')?.addEventListener('click', () => {
    const descending = head.getAttribute('aria-sort') === 'ascending';
    for (const each of heads) each.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    const sorted = rows.toSorted((a, b) => {
      const [x, y] = [keyOf(a, column), keyOf(b, column)];
      const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
      return descending ? -order : order;
    });
    table.tBodies[0].append(...sorted);
  });
}

function filter() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const fits = wanted.every((/** @type {string} */ word) => text.includes(word));
    row.hidden = !fits || (verdict.value !== '' && row.dataset.verdict !== verdict.value);
  }
  const shown = rows.filter((row) => !row.hidden).length;
  shownCount.textContent = `${shown} of ${rows.length} cells`;
}
words.addEventListener('input', filter);
verdict.addEventListener('change', filter);

/** The two that were chosen last, side by side. */
function compare() {
  const chosen = rows.filter((row) => row.querySelector('input')?.checked);
  comparison.hidden = chosen.length !== 2;
  if (chosen.length !== 2) return;
  const body = comparison.querySelector('tbody');
  body.replaceChildren(
    ...heads.slice(1).map((head, index) => {
      const line = batchDocument.createElement('tr');
      const texts = chosen.map((row) => row.cells[index + 1].textContent.trim().replaceAll(/\s+/g, ' '));
      if (texts[0] !== texts[1]) line.className = 'changed';
      const name = batchDocument.createElement('th');
      name.scope = 'row';
      name.textContent = head.textContent.trim();
      const cells = texts.map((text) => {
        const cell = batchDocument.createElement('td');
        cell.textContent = text;
        return cell;
      });
      line.append(name, ...cells);
      return line;
    }),
  );
}
for (const row of rows) {
  row.querySelector('input').addEventListener('change', (/** @type {any} */ { target }) => {
    const others = rows.filter((each) => each !== row && each.querySelector('input').checked);
    if (target.checked && others.length > 1) others[0].querySelector('input').checked = false;
    compare();
  });
}
/** A box whose table is wider than itself says that it scrolls, until its end is in sight. */
const { ResizeObserver: SizeObserver } = /** @type {any} */ (globalThis);
for (const box of batchDocument.querySelectorAll('.wide-table')) {
  const tell = () => {
    box.classList.toggle('scrolls', box.scrollWidth > box.clientWidth);
    box.classList.toggle('ends', box.scrollLeft + box.clientWidth >= box.scrollWidth - 1);
  };
  new SizeObserver(tell).observe(box);
  box.addEventListener('scroll', tell, { passive: true });
}
batchDocument.documentElement.classList.add('interactive');
filter();
