/** Is every needed piece of evidence there? Each reason why not is a sentence; none means complete. */
import { observed, type ObservedName } from '../history/observations.ts';
import type { CertificateRecord } from '../history/events.ts';
import type { Story } from '../timeline/story.ts';
import { certificateGaps } from './certificate-gaps.ts';
import { effectGaps } from './fault-effect.ts';
import { observerGaps } from './observer-gaps.ts';
import { plotGaps } from './plot-gaps.ts';
import type { Finding } from './verdict.ts';

/** The runner's step that fetches the disk's log of writes, as an error names it. */
export const exportStep = 'export writes';

/** How the reason begins that says the run starved for processor time. */
export const starvedReason = 'the machine did not keep time';

/** Of a verdict's reasons: its machine did not keep time, so what it says of times is no measurement. */
export const isStarved = (reasons: readonly string[]): boolean =>
  reasons.some((reason) => reason.startsWith(starvedReason));

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
    if (
      record.type === 'error' &&
      !(record.where === exportStep && mayLackWrites(story, findings))
    ) {
      reasons.push(`${record.where}: ${record.message}`);
    }
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
  reasons.push(...plotGaps(story), ...certificateGaps(story), ...effectGaps(story));
  reasons.push(...missingSights(story), ...observerGaps(story), ...lateTimers(story));
  for (const { level, code, summary } of findings) {
    if (level === 'incomplete') reasons.push(`${code}: ${summary}`);
  }
  return reasons;
}

/** Where nobody could write together and nothing is to be rebuilt, the log has nothing to add. */
function mayLackWrites({ scenario }: Story, findings: readonly Finding[]): boolean {
  return !scenario.keepWrites && findings.every(({ level }) => level !== 'exposure');
}

const movesVolume = new Set<string>([
  observed.podTerminating,
  observed.podGone,
  observed.attachmentDeleting,
  observed.attachmentGone,
  observed.attachmentAttached,
  observed.unmounted,
]);

/** Observers that saw nothing at all were not there: "no second mount" would mean nothing. */
function missingSights({ observations, scenario, faultAtMs = 0 }: Story): string[] {
  const needed: ObservedName[] = [observed.nodeReady, observed.mounted];
  // A pod that nobody ends leaves the driver nothing to be asked for.
  const hasMoved = observations.some(({ name, t }) => t >= faultAtMs && movesVolume.has(name));
  if (hasMoved) needed.push(observed.csiCall);
  // A shared directory has no device, and a link that survives never changes.
  if (scenario.disk !== 'shared-file') needed.push(observed.deviceWritten);
  if (scenario.link !== 'survives') needed.push(observed.linkChanged);
  return needed
    .filter((name) => !observations.some((seen) => seen.name === name))
    .map((name) => `no observer ever saw ${name}`);
}

/**
 * How late each timer of a second fired, milliseconds, from the fault to the second image: nothing
 * before or after depends on the time it takes.
 */
export function timerLagsOf({
  records,
  faultAtMs = 0,
}: Pick<Story, 'records' | 'faultAtMs'>): number[] {
  const copied = records.find((each) => each.type === 'phase' && each.phase === 'second-image');
  const untilMs = copied?.t ?? Number.POSITIVE_INFINITY;
  return records
    .filter((record) => record.type === 'machine')
    .filter(({ t }) => t >= faultAtMs && t < untilMs)
    .map((each) => each.timerLagMs);
}

function lateTimers(story: Story): string[] {
  const worstMs = Math.max(0, ...timerLagsOf(story));
  return worstMs > timerLagLimitMs
    ? [`${starvedReason}: a timer fired ${Math.round(worstMs)} ms late`]
    : [];
}
