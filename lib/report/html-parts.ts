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
  /** SVG documents as data URIs. */
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
/** Columns of text that breaks anywhere. */
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

/** A table that may be wider than the window. */
export const wideTable = (about: string, ...of: Parameters<typeof table>): Html =>
  wide(about, table(...of));

/** Names and values in two columns. */
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
