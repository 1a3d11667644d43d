/** The verdict as JUnit XML: one case for the run, one for each certificate. */
import { html, raw } from 'hono/html';
import type { Verdict } from '../experiment/verdict.ts';

/** XML 1.0 has no way to say most control characters, not even escaped. */
// oxlint-disable-next-line no-control-regex
const unsayable = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

/** An inconclusive run is an error, an unexpected verdict a failure. */
export async function renderJunit(verdict: Verdict): Promise<string> {
  const { scenario, sentence, certificates, asExpected } = verdict;
  const inconclusive = verdict.verdict === 'inconclusive' && !asExpected;
  const failed = !asExpected && !inconclusive;
  const broken = certificates.filter(({ holds }) => !holds).length;
  const suite = String(scenario['name']);
  const message = `${verdict.verdict}, expected ${verdict.expected.join(' or ')}`;
  const document = await html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
<testsuites>
<testsuite name="${suite}" tests="${1 + certificates.length}" failures="${(failed ? 1 : 0) + broken}" errors="${inconclusive ? 1 : 0}">
<properties><property name="seed" value="${verdict.seed}"/><property name="basis" value="${verdict.basis}"/><property name="replay" value="${verdict.replay}"/></properties>
<testcase classname="${suite}" name="verdict">${failed ? html`<failure message="${message}">${sentence}</failure>` : ''}${inconclusive ? html`<error message="${message}">${verdict.incompleteBecause.join('\n')}</error>` : ''}</testcase>
${certificates.map(
  ({
    fault,
    moment,
    claim,
    holds,
    evidence,
  }) => html`<testcase classname="${suite}.certificates" name="${fault}, ${moment}: ${claim}">${holds ? '' : html`<failure message="does not hold">${evidence}</failure>`}</testcase>
`,
)}</testsuite>
</testsuites>
`;
  return String(document).replaceAll(unsayable, '\uFFFD');
}
