/** A certificate as JUnit XML: a case for the answer or the heal, one for each trial or class, one for what was left. */
import { html } from 'hono/html';
import type { Html } from '../../report/html-parts.ts';
import { property, timeAttribute, xmlDocument } from '../../report/xml.ts';
import type { CutCertificate } from '../cut/certificate.ts';
import type { CutFinding } from '../cut/classify.ts';
import type { HeldAnswer } from '../expected.ts';
import { answerWord } from '../texts.ts';
import type { Certificate } from '../trials/certificate.ts';
import type { TrialFinding } from '../trials/classify.ts';
import type { ForcedFinding } from '../trials/force-deleted.ts';

/**
 * An answer that is not expected is a failure; where nothing is expected, no mode is one. An undecided
 * answer is an error, as an inconclusive run is; an undecided trial is skipped; what is left fails.
 */
export function renderCertificateJunit(
  certificate: Certificate,
  held?: HeldAnswer,
): Promise<string> {
  const { answer, findings, storageClass, driver, kubernetes, planHash, left } = certificate;
  const time = timeOf(certificate);
  const suite = `detach ${storageClass.name}`;
  const isDecided = answer.modes.length > 0 && held?.is !== 'undecided';
  const isOther = held?.is === 'other';
  const failures = (left === undefined ? 0 : 1) + (isOther ? 1 : 0);
  const forced = certificate.forceDeleted?.findings ?? [];
  const skipped = [...findings, ...forced].filter(({ outcome }) => outcome === 'undecided').length;
  return xmlDocument(html`<testsuites>
<testsuite name="${suite}" tests="${2 + findings.length + forced.length}" failures="${failures}" errors="${isDecided ? 0 : 1}" skipped="${skipped}"${time}>
<properties>${property('driver', driver.name)}${property('kubernetes', kubernetes)}
${property('plan', planHash)}${property('answer', answerWord(answer))}</properties>
<testcase classname="${suite}" name="answer"${time}>
${isOther ? html`<failure message="not expected">${held.text}</failure>` : ''}${isDecided ? '' : html`<error message="undecided">${[...(held === undefined ? [] : [held.text]), ...answer.notes].join('\n')}</error>`}</testcase>
${[...findings, ...forced].map((finding) => trialCase(finding, suite))}<testcase classname="${suite}" name="all is removed">
${left === undefined ? '' : html`<failure message="still there">${left}</failure>`}</testcase>
</testsuite>
</testsuites>`);
}

const timeOf = ({ beganAt, endedAt }: Pick<Certificate, 'beganAt' | 'endedAt'>): Html =>
  timeAttribute(Date.parse(endedAt) - Date.parse(beganAt));

function trialCase({ name, outcome, why }: TrialFinding | ForcedFinding, suite: string): Html {
  const told =
    outcome === 'undecided' ? html`<skipped message="${why}"/>` : systemOut(outcome, why);
  return html`<testcase classname="${suite}.trials" name="${name}">
${told}</testcase>
`;
}

const systemOut = (outcome: string, why: string): Html =>
  html`<system-out>${outcome}: ${why}</system-out>`;

/**
 * Nothing was expected, so no outcome is a failure: an undecided class was not asked. A node that is not
 * proven to be healed fails, and so does what is left.
 */
export function renderCutJunit(certificate: CutCertificate): Promise<string> {
  const { findings, plan, kubernetes, planHash, record, left } = certificate;
  const time = timeOf(certificate);
  const suite = `cut ${plan.nodes[0]} ${plan.remedy} ${plan.way}`;
  const skipped = findings.filter(({ outcome }) => outcome === 'undecided').length;
  const failures = (record.checked ? 0 : 1) + (left === undefined ? 0 : 1);
  return xmlDocument(html`<testsuites>
<testsuite name="${suite}" tests="${2 + findings.length}" failures="${failures}" errors="0" skipped="${skipped}"${time}>
<properties>${property('kubernetes', kubernetes)}
${property('plan', planHash)}</properties>
${findings.map((finding) => classCase(finding, suite))}<testcase classname="${suite}" name="the node is healed">
${record.checked ? '' : html`<failure message="not proven">${plan.nodes[0]}</failure>`}</testcase>
<testcase classname="${suite}" name="all is removed">
${left === undefined ? '' : html`<failure message="still there">${left}</failure>`}</testcase>
</testsuite>
</testsuites>`);
}

function classCase({ storageClass, outcome, why, modes }: CutFinding, suite: string): Html {
  const said = `${outcome}: ${why}; does so: ${modes.join(' or ') || 'nothing known'}`;
  const told =
    outcome === 'undecided'
      ? html`<skipped message="${why}"/>`
      : html`<system-out>${said}</system-out>`;
  return html`<testcase classname="${suite}.classes" name="${storageClass}">
${told}</testcase>
`;
}
