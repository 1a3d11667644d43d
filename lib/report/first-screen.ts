/**
 * What every kind of page shows first, as data: a run's, a group's, a certificate's, a batch's. Headline, colour,
 * chips and tiles come from this one object.
 */
import { html } from 'hono/html';
import type { Verdict, VerdictWord } from '../judge/index.ts';
import { card, explained, type Html, list } from './html-parts.ts';

export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly more: string;
  /** Colour of the value. Default: plain. */
  readonly tone?: VerdictWord;
}

interface Chip {
  readonly text: string;
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

/** What a reader does with it, and whether it is about them. Nothing where nothing follows. */
export interface Advice {
  readonly advice: readonly string[];
  readonly appliesIf: readonly string[];
  readonly appliesNote?: string;
}

export const drawNoConclusion: Advice = {
  advice: ['Draw no conclusion. Repair what is missing (listed above), and run it again.'],
  appliesIf: [],
};

export const adviceCards = ({ advice, appliesIf, appliesNote = '' }: Advice): Html =>
  html`${card('What to do', list(advice))}
${
  appliesIf.length === 0
    ? ''
    : card(
        'This applies to you if',
        html`${list(appliesIf)}${appliesNote === '' ? '' : html`<p class="faint">${appliesNote}</p>`}`,
      )
}`;

export const replayCard = (command: string): Html =>
  card('Run it again', html`<pre>${command}</pre>`);

/** Proven damage stands without it; nothing else does. */
export const missingEvidence = ({
  verdict,
  incompleteBecause,
}: Pick<Verdict, 'verdict' | 'incompleteBecause'>): Html =>
  html`<section class="card missing"><h2>${
    verdict === 'inconclusive'
      ? 'The evidence is incomplete: this run proves nothing'
      : 'Some evidence is missing; what was proven stands'
  }</h2>${list(incompleteBecause)}</section>`;
