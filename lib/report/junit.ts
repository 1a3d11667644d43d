/** The verdict as JUnit XML: one case for the run, one for each certificate. */
import { html, raw } from 'hono/html';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { scoreInWords } from './mutant-score.ts';
import type { Html } from './html-parts.ts';
import { commitsFact, lostOf } from './loss-words.ts';
import { expectation, expectedInRun } from './wording.ts';
import { property, xmlDocument } from './xml.ts';

type Shared = 'verdict' | 'expected' | 'asExpected' | 'incompleteBecause' | 'sentence' | 'acked';
type OfRun = 'lost' | 'certificates' | 'scenario' | 'seed' | 'basis' | 'replay';
/** What every kind of run is judged by, and what only one on a volume has. */
type JunitVerdict = Pick<Verdict, Shared | OfRun> &
  Partial<Pick<Verdict, 'open' | 'serving' | 'images'>>;

/** An inconclusive run is an error, an unexpected verdict a failure; an open one was not asked. */
export function renderJunit(verdict: JunitVerdict): Promise<string> {
  const { scenario, certificates, asExpected, seed, basis, replay } = verdict;
  const open = verdict.open === true;
  const error = verdict.verdict === 'inconclusive' && !asExpected;
  const failures = certificates.filter(({ holds }) => !holds).length;
  const suite = String(scenario['name']);
  return xmlDocument(html`<testsuites>
<testsuite name="${suite}" tests="${1 + certificates.length}"
 failures="${failures + (asExpected || error || open ? 0 : 1)}" errors="${error ? 1 : 0}"${open ? raw(' skipped="1"') : ''}>
<properties>${property('seed', seed)}${property('basis', basis)}${property('replay', replay)}
${lossProperties(verdict)}</properties>
${verdictCase(verdict, suite, error)}
${certificates.map((certificate) => certificateCase(certificate, suite))}</testsuite>
</testsuites>`);
}

/** The score is of audits of a volume, so that a group's members have none. */
function lossProperties({ images, acked, lost }: JunitVerdict): Html {
  if (images === undefined) return property('Acknowledged commits', lostOf(lost, acked));
  const { name, value, more } = commitsFact({ images });
  return html`${property('audit', scoreInWords())}
${property(name, `${value} (${more})`)}`;
}

function verdictCase(verdict: JunitVerdict, suite: string, error: boolean): Html {
  const came = `${verdict.verdict}${verdict.serving?.served === false ? ', and nothing served' : ''}`;
  const message = `${came}, expected ${expectedInRun(verdict)}`;
  const details = error ? verdict.incompleteBecause.join('\n') : verdict.sentence;
  const trouble = error
    ? html`<error message="${message}">${details}</error>`
    : html`<failure message="${message}">${details}</failure>`;
  return html`<testcase classname="${suite}" name="verdict">
${verdict.open === true ? html`<skipped message="${expectation(verdict)}"/>` : verdict.asExpected ? '' : trouble}</testcase>`;
}

function certificateCase(certificate: Verdict['certificates'][number], suite: string): Html {
  const { fault, moment, claim, holds, evidence } = certificate;
  return html`<testcase classname="${suite}.certificates" name="${fault}, ${moment}: ${claim}">
${holds ? '' : html`<failure message="does not hold">${evidence}</failure>`}</testcase>
`;
}
