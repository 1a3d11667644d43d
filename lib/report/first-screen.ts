/**
 * What every kind of page shows first, as data: a run's, a group's, a certificate's, a batch's. Headline, colour,
 * chips and tiles come from this one object.
 */
import { html } from 'hono/html';
import type { VerdictWord } from '../experiment/verdict/verdict.ts';
import type { Html } from './html-parts.ts';
import { explained } from './terms.ts';

export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly more: string;
  /** Colour of the value. Default: plain. */
  readonly tone?: VerdictWord;
}

interface Chip {
  readonly text: string;
  /** Drawn as a warning. Default: false. */
  readonly alarm?: boolean;
}

export interface FirstScreen {
  /** Which tool, experiment and run. */
  readonly top: string;
  /** Colour of the band and of the word. */
  readonly tone: VerdictWord;
  /** Verdict or answer, as the first chip. Default: the tone. */
  readonly word?: string;
  /** Harm that the verdict's word does not count; the band shows it, and a chip says it. */
  readonly caveat?: string;
  readonly headline: string;
  readonly sentence: string;
  /** How far it may be believed, and on what it was; small. */
  readonly notes: readonly string[];
  readonly chips: readonly Chip[];
}

export function pageHeader(screen: FirstScreen, { themes = false } = {}): Html {
  const { top, tone, word = tone, caveat, headline, sentence, notes, chips } = screen;
  return html`<div class="band ${tone} ${caveat === undefined ? '' : 'caveat'}"></div>
<header>
<div class="top"><span>${top}</span>${themes ? themeButton : ''}</div>
<h1>${headline}</h1>
<p>${explained(sentence)}</p>
${notes.map((note) => html`<p class="faint">${explained(note)}</p>`)}
<div class="chips">
<span class="chip word ${tone}">${word}</span>
${caveat === undefined ? '' : chip({ text: caveat, alarm: true })}
${chips.map(chip)}
</div>
</header>`;
}

const themeButton = html`
<button id="theme" type="button">Light / dark</button>`;

const chip = ({ text, alarm = false }: Chip): Html =>
  html`<span class="chip ${alarm ? 'alarm' : ''}">${text}</span>`;

export const factList = (facts: readonly Fact[]): Html =>
  html`<dl class="facts">${facts.map(
    ({ name, value, more, tone = 'plain' }) => html`
<div><dt>${explained(name)}</dt><dd class="${tone}-text">${value}<small>${explained(more)}</small></dd></div>`,
  )}
</dl>`;

export const list = (lines: readonly string[]): Html =>
  html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;

/** What a reader does with it, and whether it is about them. Nothing where nothing follows. */
export const adviceCards = ({
  advice,
  appliesIf,
  appliesNote = '',
}: {
  readonly advice: readonly string[];
  readonly appliesIf: readonly string[];
  readonly appliesNote?: string;
}): Html =>
  html`<section class="card"><h2>What to do</h2>${list(advice)}</section>
${
  appliesIf.length === 0
    ? ''
    : html`<section class="card"><h2>This applies to you if</h2>${list(appliesIf)}
${appliesNote === '' ? '' : html`<p class="faint">${appliesNote}</p>`}</section>`
}`;
