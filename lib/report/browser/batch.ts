/** The table of cells on a batch's page: sorted by a click on its head, filtered, two compared. */
import { find } from './tables.ts';

const table = find(document, '#cells') as HTMLTableElement;
const rows = [...table.querySelectorAll<HTMLTableRowElement>('tbody tr')];
const words = find(document, '#cell-words') as HTMLInputElement;
const verdict = find(document, '#cell-verdict') as HTMLSelectElement;
const comparison = find(document, '#comparison');
const boxOf = (row: HTMLElement): HTMLInputElement => find(row, 'input') as HTMLInputElement;

/** What a column is sorted by: a number where the cell has one as its key, else its text. */
function keyOf(row: HTMLTableRowElement, column: number): number | string {
  const cell = row.cells[column];
  const key = cell?.dataset['key'];
  return key === undefined
    ? (cell?.textContent.trim() ?? '')
    : key === ''
      ? -Infinity
      : Number(key);
}
const heads = [...table.querySelectorAll<HTMLTableCellElement>('thead th')];
for (const head of heads) {
  head.addEventListener('click', () => {
    const isDown = head.getAttribute('aria-sort') === 'ascending';
    for (const each of heads) each.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
    const sorted = rows.toSorted((a, b) => {
      const [x, y] = [keyOf(a, head.cellIndex), keyOf(b, head.cellIndex)];
      return typeof x === 'number' && typeof y === 'number'
        ? x - y
        : String(x).localeCompare(String(y));
    });
    find(table, 'tbody').append(...(isDown ? sorted.toReversed() : sorted));
  });
}

function filter(): void {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    const fits = wanted.every((word) => text.includes(word));
    row.hidden = !fits || (verdict.value !== '' && row.dataset['verdict'] !== verdict.value);
  }
  const shown = rows.filter((row) => !row.hidden).length;
  find(document, '#cell-count').textContent = `${shown} of ${rows.length} cells`;
}
words.addEventListener('input', filter);
verdict.addEventListener('change', filter);

function compare(): void {
  const chosen = rows.filter((row) => boxOf(row).checked);
  comparison.hidden = chosen.length !== 2;
  if (chosen.length !== 2) return;
  const lines = heads.map((head, index) => {
    const line = document.createElement('tr');
    const name = document.createElement('th');
    name.scope = 'row';
    name.textContent = head.textContent.trim();
    line.append(name);
    const texts = chosen.map((row) =>
      row.cells[index + 1]?.textContent.trim().replaceAll(/\s+/g, ' '),
    );
    if (texts[0] !== texts[1]) line.className = 'changed';
    for (const text of texts) line.insertCell().textContent = text ?? '';
    return line;
  });
  find(comparison, 'tbody').replaceChildren(...lines);
}
for (const row of rows) {
  boxOf(row).addEventListener('change', () => {
    const others = rows.filter((each) => each !== row && boxOf(each).checked);
    const [first] = others;
    if (boxOf(row).checked && others.length > 1 && first !== undefined)
      boxOf(first).checked = false;
    compare();
  });
}
/** A box whose table is wider than itself shows that it scrolls, until its end is in sight. */
for (const box of document.querySelectorAll('.wide-table')) {
  const mark = (): void => {
    box.classList.toggle('scrolls', box.scrollWidth > box.clientWidth);
    box.classList.toggle('ends', box.scrollLeft + box.clientWidth >= box.scrollWidth - 1);
  };
  new ResizeObserver(mark).observe(box);
  box.addEventListener('scroll', mark, { passive: true });
}
document.documentElement.classList.add('interactive');
filter();
