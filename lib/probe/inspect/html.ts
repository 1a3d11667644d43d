/** An inspection as a page that fetches nothing. */
import { html } from 'hono/html';
import { type Html, card, list, renderDocument, texts, wideTable } from '../../report/index.ts';
import type { Inspection } from './inspect.ts';
import { type Section, closingSections, sectionsOf, volumeText } from './words.ts';

const meanings = {
  'two could write': [
    'exposed',
    'A second node had the volume, and a record shows that the first one still wrote to it.',
  ],
  'only one could': [
    'safe',
    'The records show that the first node had lost the volume before the second one had it.',
  ],
  'cannot be told': [
    'inconclusive',
    'The records do not show whether the first node had lost the volume. Assume that two could write.',
  ],
} as const;

const sectionHtml = ({ title, lines = [], heads, rows = [] }: Section): Html | string => {
  if (heads !== undefined) return card(title, wideTable(title, [...texts(...heads)], rows));
  return lines.length === 0 ? '' : card(title, list(lines));
};

const filesOf = ({ files }: Inspection): Section => ({
  title: 'Files',
  heads: ['File', 'Read as', 'Records that count'],
  rows: files.map(({ file, is, records }) => [file, is, String(records)]),
});

export function renderInspectionHtml(inspection: Inspection): Promise<string> {
  const { answer, volumes, files } = inspection;
  const [worst] = volumes;
  return renderDocument({
    title: `${answer}${worst === undefined ? '' : `: ${volumeText(worst)}`}`,
    screen: {
      ...{ top: 'forcedetach inspect', tone: meanings[answer][0], word: answer },
      headline: worst === undefined ? 'No volume is on record' : `${volumeText(worst)}: ${answer}`,
      sentence: meanings[answer][1],
      notes: ['Read from records that others kept: what is in none of them is not known here.'],
      chips: [{ text: `${files.length} files` }, { text: `${volumes.length} volumes` }],
    },
    main: html`${closingSections(inspection).slice(0, 3).map(sectionHtml)}
${volumes.flatMap(sectionsOf).map(sectionHtml)}
${closingSections(inspection).slice(3).map(sectionHtml)}
${sectionHtml(filesOf(inspection))}`,
  });
}
