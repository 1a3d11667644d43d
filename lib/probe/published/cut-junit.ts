/** A cut's certificate as JUnit XML: a case for each class, one for the heal, one for what was left. */
import { html } from 'hono/html';
import type { Html } from '../../report/html-parts.ts';
import { property, xmlDocument } from '../../report/xml.ts';
import type { CutCertificate } from '../cut/certificate.ts';
import type { CutFinding } from '../cut/classify.ts';

/**
 * Nothing was expected, so no outcome is a failure: an undecided class was not asked. A node that is not
 * proven to be healed fails, and so does what is left.
 */
export function renderCutJunit(certificate: CutCertificate): Promise<string> {
  const { findings, plan, kubernetes, planHash, record, left } = certificate;
  const suite = `cut ${plan.nodes[0]} ${plan.remedy} ${plan.way}`;
  const skipped = findings.filter(({ outcome }) => outcome === 'undecided').length;
  const failures = (record.checked ? 0 : 1) + (left === undefined ? 0 : 1);
  return xmlDocument(html`<testsuites>
<testsuite name="${suite}" tests="${2 + findings.length}" failures="${failures}" errors="0" skipped="${skipped}">
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
