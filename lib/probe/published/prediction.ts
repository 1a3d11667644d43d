/** A prediction as one page that fetches nothing, and as JUnit XML: what was read, where, how sure; that nothing was measured. */
import { html } from 'hono/html';
import { renderDocument } from '../../report/document.ts';
import { pageHeader, type FirstScreen } from '../../report/first-screen.ts';
import { card, type Html, pairs, wide } from '../../report/html-parts.ts';
import { property, xmlDocument } from '../../report/xml.ts';
import { planLines } from '../trial-plan.ts';
import type { Line } from '../line.ts';
import type { PredictionReport } from '../prediction.ts';
import { onlyPredicted, refusedWords } from '../texts.ts';

const word = ({ prediction: { mode } }: PredictionReport): string =>
  mode ?? 'no document settles it';

/** The same prediction gives the same bytes. */
export function renderPredictionHtml(answer: PredictionReport): Promise<string> {
  const { storageClass, prediction, plan, refusal, missingRights } = answer;
  return renderDocument({
    title: `${storageClass}, predicted: ${word(answer)}`,
    header: pageHeader(screen(answer)),
    main: html`${card('What was read', lines(prediction.lines))}
${plan === undefined ? '' : card('What trials would do', html`<pre>${planLines(plan).join('\n')}</pre>`)}
${refusal === undefined ? '' : card('Why trials would be refused', html`<pre>${refusal}</pre>`)}
${missingRights.length === 0 ? '' : card('Rights that trials need, and that are missing', html`<ul>${missingRights.map((right) => html`<li>${right}</li>`)}</ul>`)}
${card(
  'On what it rests',
  pairs([
    ['asked at', answer.askedAt],
    ['could not be read', refusedWords(answer.refused)],
    ['forcedetach', answer.forcedetach],
  ]),
)}`,
  });
}

const screen = (answer: PredictionReport): FirstScreen => {
  const { driver, storageClass, kubernetes, prediction } = answer;
  return {
    top: `forcedetach probe · ${driver}`,
    ...{ tone: 'inconclusive', word: 'predicted' },
    headline: `A forced detach of ${storageClass}, predicted: ${word(answer)}`,
    sentence: onlyPredicted,
    notes: [],
    chips: [{ text: `Kubernetes ${kubernetes}` }, { text: `sure: ${prediction.sure}` }],
  };
};

const lines = (all: readonly Line[]): Html =>
  wide(
    'What was read',
    html`<table><thead><tr><th>What</th><th>Found</th><th>Where</th><th>How sure</th></tr></thead>
<tbody>${all.map(
      ({ what, found, source, sure }) =>
        html`<tr><td>${what}</td><td class="text">${found}</td><td>${source}</td><td>${sure}</td></tr>`,
    )}</tbody></table>`,
  );

/** Nothing was expected, and nothing was tried: no case fails, and what is not known is skipped. */
export function renderPredictionJunit(answer: PredictionReport): Promise<string> {
  const { storageClass, driver, kubernetes, prediction, refusal, missingRights } = answer;
  const suite = `predict ${storageClass}`;
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['predicted mode', prediction.mode === undefined ? 'no document settles it' : undefined],
    ['trials would be made', refusal],
    [
      'the rights for trials are there',
      missingRights.length === 0 ? undefined : missingRights.join(', '),
    ],
  ];
  const skipped = cases.filter(([, why]) => why !== undefined).length;
  return xmlDocument(html`<testsuites>
<testsuite name="${suite}" tests="${cases.length}" failures="0" errors="0" skipped="${skipped}">
<properties>${property('driver', driver)}${property('kubernetes', kubernetes)}
${property('answer', word(answer))}${property('basis', 'predicted')}</properties>
${cases.map(
  ([name, why]) => html`<testcase classname="${suite}" name="${name}">
${why === undefined ? '' : html`<skipped message="${why}"/>`}</testcase>
`,
)}</testsuite>
</testsuites>`);
}
