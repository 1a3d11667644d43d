/** What the probe answered as JUnit XML: a case for the answer, one for each trial or class, one for what was left. */
import { junit, type JunitCase } from '../../report/index.ts';
import type { Certificate, CutCertificate, PredictionReport } from '../certificate.ts';
import { type HeldAnswer, answerWord } from '../judge/measured.ts';
import { predictedWord } from '../texts.ts';

const timeOf = ({ beganAt, endedAt }: Pick<Certificate, 'beganAt' | 'endedAt'>): number =>
  Date.parse(endedAt) - Date.parse(beganAt);

const leftCase = (left: string | undefined): JunitCase => ({
  name: 'all is removed',
  failure: left === undefined ? undefined : { message: 'still there', text: left },
});

/**
 * An answer that is not expected is a failure; where nothing is expected, no mode is one. An undecided
 * answer is an error, as an inconclusive run is; an undecided trial is skipped; what is left fails.
 */
export function renderCertificateJunit(
  certificate: Certificate,
  held?: HeldAnswer,
): Promise<string> {
  const { answer, findings, storageClass, driver, kubernetes, planHash, left } = certificate;
  const ms = timeOf(certificate);
  const isDecided = answer.modes.length > 0 && held?.is !== 'undecided';
  const why = [...(held === undefined ? [] : [held.text]), ...answer.notes].join('\n');
  return junit({
    ...{ name: `detach ${storageClass.name}`, ms },
    properties: [
      { driver: driver.name, kubernetes },
      { plan: planHash, answer: answerWord(answer) },
    ],
    cases: [
      {
        ...{ name: 'answer', ms },
        failure: held?.is === 'other' ? { message: 'not expected', text: held.text } : undefined,
        error: isDecided ? undefined : { message: 'undecided', text: why },
      },
      ...[...findings, ...(certificate.forceDeleted?.findings ?? [])].map(
        ({ name, outcome, why }): JunitCase => ({
          ...{ name, part: 'trials' },
          ...(outcome === 'undecided' ? { skipped: why } : { out: `${outcome}: ${why}` }),
        }),
      ),
      leftCase(left),
    ],
  });
}

/**
 * Nothing was expected, so no outcome is a failure: an undecided class was not asked. A node that is not
 * proven to be healed fails, and so does what is left.
 */
export function renderCutJunit(certificate: CutCertificate): Promise<string> {
  const { findings, plan, kubernetes, planHash, record, left } = certificate;
  const [node] = plan.nodes;
  return junit({
    ...{ name: `cut ${node} ${plan.remedy} ${plan.way}`, ms: timeOf(certificate) },
    properties: [{ kubernetes, plan: planHash }],
    cases: [
      ...findings.map(({ storageClass: name, outcome, why, modes }): JunitCase => {
        const out = `${outcome}: ${why}; does so: ${modes.join(' or ') || 'no mode'}`;
        return {
          ...{ name, part: 'classes', ...(outcome === 'undecided' ? { skipped: why } : { out }) },
        };
      }),
      {
        name: 'the node is healed',
        failure: record.checked ? undefined : { message: 'not proven', text: node },
      },
      leftCase(left),
    ],
  });
}

/** Nothing was expected, and nothing was tried: no case fails, and what is not known is skipped. */
export function renderPredictionJunit(answer: PredictionReport): Promise<string> {
  const { storageClass, driver, kubernetes, prediction, refusal, missingRights } = answer;
  const missing = missingRights.join(', ');
  return junit({
    name: `predict ${storageClass}`,
    properties: [{ driver, kubernetes, answer: predictedWord(answer), basis: 'predicted' }],
    cases: [
      {
        name: 'predicted mode',
        skipped: prediction.mode === undefined ? predictedWord(answer) : undefined,
      },
      { name: 'trials would be made', skipped: refusal },
      { name: 'the rights for trials are there', skipped: missing === '' ? undefined : missing },
    ],
  });
}
