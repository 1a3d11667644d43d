/** Parts that every kind of page is made of: numbers as people read them, cards, lists, tables, pictures. */
import { html } from 'hono/html';
import { countInWords } from '../core/index.ts';

export type Html = ReturnType<typeof html>;

export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (100 * part) / whole;
  return `${share > 0 && share < 0.1 ? share.toPrecision(1) : Number(share.toFixed(1))} %`;
}

export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const power = count < 1 ? 0 : Math.min(Math.floor(Math.log2(count) / 10), units.length - 1);
  return `${Number((count / 1024 ** power).toFixed(1))} ${units[power]}`;
}

export interface Picture {
  readonly light: string;
  readonly dark: string;
  readonly width: number;
  readonly height: number;
}

/** Both colourings; the style sheet shows the one that fits. */
export function pictures({ light, dark, width, height }: Picture, about: string): Html {
  const image = (tone: 'light' | 'dark', source: string): Html =>
    html`<img class="picture only-${tone}" src="${source}" width="${width}" height="${height}"
alt="${about}">`;
  return html`${image('light', light)}${image('dark', dark)}`;
}

/**
 * What is wider than the window scrolls in its own box, by keys too, and says so. `about`: its name for
 * who can't see it.
 */
export const wide = (about: string, content: Html): Html =>
  html`<div class="wide-table" tabindex="0" role="region" aria-label="${about}">
<p class="scroll-hint" aria-hidden="true">Wider than the window: scroll sideways ⇢</p>${content}</div>`;

export const card = (title: Html | string, content: Html | string): Html =>
  html`<section class="card"><h2>${title}</h2>${content}</section>`;

export const list = (lines: readonly (Html | string)[]): Html =>
  html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;

/** The first lines at once, the others by a click. */
export const closed = (summary: string, content: Html): Html =>
  html`<details><summary>${summary}</summary>${content}</details>`;

/** A head, and the style of its cells: `number`, `text` (breaks anywhere), or `head` (names its row). */
export type Column =
  | string
  | readonly [head: Html | string, style: 'number' | 'text' | 'head' | ''];
/** Columns of numbers. */
export const numbers = (...heads: readonly (Html | string)[]): Column[] =>
  heads.map((head) => [head, 'number']);
export const texts = (...heads: readonly string[]): Column[] => heads.map((head) => [head, 'text']);

type Attributes = Readonly<Record<string, string | undefined>>;
type Shown = Html | string | number;
/** With attributes of its own; its class comes beside the column's. */
type Cell = Shown | readonly [shown: Shown, attributes: Attributes];
/** `style`: class of the row. `title`: shown where the pointer rests on it. */
export interface Row {
  readonly cells: readonly Cell[];
  readonly style?: string;
  readonly title?: string;
  readonly attributes?: Attributes;
}

const attributesOf = (all: Attributes): Html =>
  html`${Object.entries(all).map(([name, value = '']) =>
    value === '' && !name.startsWith('data-') ? '' : html` ${name}="${value}"`,
  )}`;

export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[] | Row)[],
  attributes: Attributes = {},
): Html {
  const styles = columns.map((column) => (typeof column === 'string' ? '' : column[1]));
  const heads = columns.map((column) => (typeof column === 'string' ? column : column[0]));
  const head = html`<thead><tr>${heads.map((each, index) => html`<th${attributesOf({ class: styles[index] })}>${each}</th>`)}</tr></thead>`;
  return html`<table${attributesOf(attributes)}>${heads.every((each) => each === '') ? '' : head}
<tbody>${rows.map((row) => tableRow('cells' in row ? row : { cells: row }, styles))}</tbody></table>`;
}

const tableRow = ({ cells, style, title, attributes }: Row, styles: readonly string[]): Html =>
  html`<tr${attributesOf({ class: style, title, ...attributes })}>${cells.map((cell, index) => {
    const [content, own = {}] = (Array.isArray(cell) ? cell : [cell]) as [Shown, Attributes?];
    const shown = typeof content === 'number' ? countInWords(content) : content;
    const all = { ...own, class: [styles[index], own['class']].filter(Boolean).join(' ') };
    return styles[index] === 'head'
      ? html`<th scope="row">${shown}</th>`
      : html`<td${attributesOf(all)}>${shown}</td>`;
  })}</tr>
`;

export const wideTable = (about: string, ...of: Parameters<typeof table>): Html =>
  wide(about, table(...of));

export const pairs = (entries: readonly (readonly [string, unknown])[]): Html =>
  table(
    [['', 'head'], ...texts('')],
    entries.map(([name, value]) => [name, show(value)]),
  );

const show = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(tail, (number) =>
    String(Number(Number(number).toPrecision(12))),
  );
/** What a binary fraction leaves behind a decimal one: older histories have `55.00000000000001 %`. */
const tail = /\d+\.\d{12,}/g;

/** By the word as it is listed; docs/reference/glossary.md has each, and many more. */
export const terms: Readonly<Record<string, string>> = {
  acknowledged: 'the database answered the COMMIT with OK',
  audit: 'reading a copy of the volume from cold and comparing it with the clients’ journal',
  cell: 'one combination of the axes of a batch, such as a fault, a remedy and a disk',
  certificate: 'a probe that proves that a fault took effect, lasted, or was healed',
  control: 'a run that must show damage, or must not; otherwise the batch proves nothing',
  eviction: 'deletion of a pod by the control plane; a cut-off node does not receive it',
  'fault event': 'one node failure; volumes that share it count once',
  fence: 'cut a suspect node off from its storage, so that its writes cannot reach the data',
  'first image': 'the copy of the volume from before the heal: what the fault did',
  'force-delete': 'remove the pod object at once, without confirmation that its processes ended',
  'hand-over': 'the successor’s first write to the volume; a journal replay counts',
  heal: 'the end of the fault: network, node and processes are restored',
  horizon: 'how long after the fault the run watches',
  inside: 'a client on the victim’s side of a partition',
  lost: 'an acknowledged commit that is missing from the last fully readable copy',
  outside: 'a client on the cluster’s side of a partition, as most of your users',
  'out-of-service': 'a taint by which an operator states that the node is off',
  remedy: 'what removes the old pod: a person, a tool, or nothing',
  'second image': 'the copy of the volume from after the heal',
  silent: 'no event, probe, error log or check shows the damage to an operator',
  successor: 'the node, and its database, that gets the volume next',
  unreadable: 'not readable from this copy of the volume; a later copy may have it',
  victim: 'the node, and its database, that had the volume at the fault',
};

const forms: Readonly<Record<string, string>> = {
  'acknowledged commit': 'acknowledged',
  'acknowledged commits': 'acknowledged',
  certificates: 'certificate',
  cells: 'cell',
  controls: 'control',
  evicted: 'eviction',
  'fault events': 'fault event',
  fenced: 'fence',
  fences: 'fence',
  healed: 'heal',
};

const spelled = [...Object.keys(terms), ...Object.keys(forms)].toSorted(
  (a, b) => b.length - a.length,
);
const anyTerm = new RegExp(`(?<![\\w-])(${spelled.join('|')})(?![\\w-])`, 'gi');

const idOf = (term: string): string => `word-${term.replaceAll(' ', '-')}`;

/** The text with each word that has a meaning here marked once. */
export function explained(text: string): Html {
  const meanings = terms;
  const seen = new Set<string>();
  const parts = text.split(anyTerm).map((part, index) => {
    const term = index % 2 === 1 ? listed(part) : undefined;
    if (term === undefined || seen.has(term)) return html`${part}`;
    seen.add(term);
    return html`<a class="term" href="#${idOf(term)}" title="${meanings[term]}">${part}</a>`;
  });
  return html`${parts}`;
}

function listed(word: string): string {
  const small = word.toLowerCase();
  return forms[small] ?? small;
}

/** What the markup above it explains, as a list; nothing where it explains nothing. */
export function wordList(markup: string): Html | string {
  const used = Object.entries(terms).filter(([term]) => markup.includes(`href="#${idOf(term)}"`));
  if (used.length === 0) return '';
  return html`<section class="card"><h2>Words of this page</h2><dl class="words">
${used.map(
  ([
    term,
    meaning,
  ]) => html`<div><dt><dfn id="${idOf(term)}">${term}</dfn></dt><dd>${meaning}</dd></div>
`,
)}</dl></section>`;
}
