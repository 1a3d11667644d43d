/** Small pieces that several sections share: numbers as people read them, pictures, tables. */
import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

/** `361.6 s`; at most three decimals, none where there are none. */
export const secondsShown = (s: number): string => `${Number(s.toFixed(s < 10 ? 3 : 1))} s`;

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

export const card = (title: string, content: Html): Html =>
  html`<section class="card"><h2>${title}</h2>${content}</section>`;

/** Names and values in two columns. */
export function pairs(entries: readonly (readonly [string, unknown])[]): Html {
  const row = ([name, value]: readonly [string, unknown]): Html =>
    html`<tr><th scope="row">${name}</th><td class="text">${show(value)}</td></tr>`;
  return html`<table><tbody>${entries.map(row)}</tbody></table>`;
}

const show = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(tail, (number) =>
    String(Number(Number(number).toPrecision(12))),
  );
/** What a binary fraction leaves behind a decimal one: older histories have `55.00000000000001 %`. */
const tail = /\d+\.\d{12,}/g;
