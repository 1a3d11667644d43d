/** Is every needed piece of evidence there? Each reason why not is a sentence; none means complete. */
import { observed } from '../history/observations.ts';
import type { CertificateRecord } from '../history/events.ts';
import type { Story } from '../timeline/story.ts';
import type { Finding } from './verdict.ts';

/** A timer that fires later than this says the machine did not keep time. */
const timerLagLimitMs = 2000;

export function incompleteBecause(
  story: Story,
  certificates: readonly CertificateRecord[],
  findings: readonly Finding[],
): string[] {
  const reasons: string[] = [];
  const { records, faultAtMs } = story;

  for (const record of records) {
    if (record.type === 'error') reasons.push(`${record.where}: ${record.message}`);
    if (record.type === 'action' && record.step === 'failed') {
      reasons.push(`${record.actor} ${record.name} failed: ${record.detail ?? 'no detail'}`);
    }
  }
  if (faultAtMs === undefined) reasons.push('the fault was never injected');
  for (const label of ['steady', 'first', 'second'] as const) {
    const image = records.find((record) => record.type === 'image' && record.image === label);
    if (image === undefined) reasons.push(`the ${label} image was not audited`);
  }
  for (const { fault, moment, claim, holds, evidence } of certificates) {
    if (!holds) reasons.push(`certificate of ${fault} (${moment}) fails: ${claim} (${evidence})`);
  }
  if (faultAtMs !== undefined && !certificates.some(({ moment }) => moment === 'during')) {
    reasons.push('no certificate says that the fault took effect');
  }
  reasons.push(...missingSights(story), ...lateTimers(story));
  for (const { level, code, summary } of findings) {
    if (level === 'incomplete') reasons.push(`${code}: ${summary}`);
  }
  return reasons;
}

/** Observers that saw nothing at all were not there: "no second mount" would mean nothing. */
function missingSights({ observations }: Story): string[] {
  const needed = [observed.nodeReady, observed.mounted, observed.csiCall, observed.deviceWritten];
  return needed
    .filter((name) => !observations.some((seen) => seen.name === name))
    .map((name) => `no observer ever saw ${name}`);
}

function lateTimers({ records }: Story): string[] {
  const lags = records.filter((record) => record.type === 'machine').map((each) => each.timerLagMs);
  const worstMs = Math.max(0, ...lags);
  return worstMs > timerLagLimitMs
    ? [`the machine did not keep time: a timer fired ${Math.round(worstMs)} ms late`]
    : [];
}
