/** An inspection as a page that fetches nothing. */
import { html } from 'hono/html';
import {
  adviceCards,
  card,
  list,
  renderDocument,
  table,
  texts,
  wideTable,
} from '../../report/index.ts';
import { placeInWords } from './files.ts';
import type { Inspection, VolumeTold } from './inspect.ts';
import {
  nextSteps,
  passageText,
  preventionOf,
  stintHeads,
  stintRows,
  timeText,
  volumeText,
} from './words.ts';

const tones = {
  'two could write': 'exposed',
  'only one could': 'safe',
  'cannot be told': 'inconclusive',
} as const;

const meanings = {
  'two could write':
    'A second node had the volume, and a record shows that the first one still wrote to it.',
  'only one could':
    'The records show that the first node had lost the volume before the second one had it.',
  'cannot be told':
    'The records do not show whether the first node had lost the volume. Assume that two could write.',
} as const;

const ofVolume = (
  each: VolumeTold,
) => html`${card(`${volumeText(each)}: ${each.answer}`, list(each.because))}
${each.passages.map((passage) =>
  card(
    passageText(passage),
    html`${wideTable(
      'Who let the second node in',
      ['When', ...texts('What', 'By', 'Record')],
      passage.chain.steps.map(({ atMs, step, by = '–', place }) => [
        ...[timeText(atMs), step, by, place === undefined ? '–' : placeInWords(place)],
      ]),
    )}${passage.chain.gaps.length === 0 ? '' : html`<p>Not on record:</p>${list(passage.chain.gaps)}`}`,
  ),
)}
${card('Who had it', wideTable('Who had it', [...texts(...stintHeads)], stintRows(each)))}
${card('What its storage does at a detach', html`<p>${each.storage.words}</p>`)}`;

export function renderInspectionHtml(inspection: Inspection): Promise<string> {
  const { answer, volumes, files, trouble, homeless } = inspection;
  const [worst] = volumes;
  return renderDocument({
    title: `${answer}${worst === undefined ? '' : `: ${volumeText(worst)}`}`,
    screen: {
      ...{ top: 'forcedetach inspect', tone: tones[answer], word: answer },
      headline: worst === undefined ? 'No volume is on record' : `${volumeText(worst)}: ${answer}`,
      sentence: meanings[answer],
      notes: ['Read from records that others kept: what is in none of them is not known here.'],
      chips: [{ text: `${files.length} files` }, { text: `${volumes.length} volumes` }],
    },
    main: html`${adviceCards({ advice: nextSteps(inspection), appliesIf: [] })}
${preventionOf(volumes).length === 0 ? '' : card('What would have prevented it', list(preventionOf(volumes)))}
${volumes.map(ofVolume)}
${trouble.length + homeless.length === 0 ? '' : card('Not read', list([...trouble.map(({ what, ...place }) => `${placeInWords(place)}: ${what}`), ...homeless.map((file) => `${file}: no node is known for it`)]))}
${card(
  'Files',
  table(
    [...texts('File', 'Read as'), 'Records that count'],
    files.map(({ file, is, records }) => [file, is, records]),
  ),
)}`,
  });
}
