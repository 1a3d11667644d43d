/** The verdict as JUnit XML: one case for the run, one for each certificate. */
import { html, raw } from 'hono/html';
import type { Verdict } from '../experiment/verdict.ts';
import { scoreInWords } from '../mutants/score.ts';
import type { Html } from './html-parts.ts';
import { expectation, expectedInRun, missingInWords } from './wording.ts';

/** XML 1.0 has no way to say most control characters, not even escaped. */
// oxlint-disable-next-line no-control-regex
const unsayable = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

/** An inconclusive run is an error, an unexpected verdict a failure; an open one was not asked. */
export async function renderJunit(verdict: Verdict): Promise<string> {
  const { scenario, certificates, asExpected, seed, basis, replay } = verdict;
  const open = verdict.open === true;
  const error = verdict.verdict === 'inconclusive' && !asExpected;
  const failures = certificates.filter(({ holds }) => !holds).length;
  const suite = String(scenario['name']);
  const document = await html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
<testsuites>
<testsuite name="${suite}" tests="${1 + certificates.length}"
 failures="${failures + (asExpected || error || open ? 0 : 1)}" errors="${error ? 1 : 0}"${open ? raw(' skipped="1"') : ''}>
<properties>${property('seed', seed)}${property('basis', basis)}${property('replay', replay)}
${property('audit', scoreInWords())}
${missingInWords(verdict).map(({ name, value }) => property(name, value))}</properties>
${verdictCase(verdict, suite, error)}
${certificates.map((certificate) => certificateCase(certificate, suite))}</testsuite>
</testsuites>
`;
  return String(document).replaceAll(unsayable, '\uFFFD');
}

const property = (name: string, value: string): Html =>
  html`<property name="${name}" value="${value}"/>`;

function verdictCase(verdict: Verdict, suite: string, error: boolean): Html {
  const came = `${verdict.verdict}${verdict.serving.served ? '' : ', and nobody served'}`;
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
