/** Certificates of a fault: before it, while it lasts, after it, and those that only the disk can give. */
import { silencesIn } from '../../core/index.ts';
import {
  type CertificateRecord,
  askedWithinMs,
  canaryContent,
  csiCalls,
  isGranted,
} from '../../history/index.ts';
import { losesPower } from '../../scenario/index.ts';
import { type ClaimedFault, type FaultSpan, claimedFaults, spanOf } from '../facts/acts.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import type { Story } from '../timeline/story.ts';
import type { WriteMarks } from '../timeline/writes.ts';

/** When each may be, and what each claims, are facts (`inPlace`, `certified`). */
export function certificateGaps(story: Story): Reason[] {
  const certificates = story.records.filter((record) => record.type === 'certificate');
  return claimedFaults(story).flatMap((claimed) => {
    const span = spanOf(story, claimed.name, claimed.kind);
    const during = certificates
      .filter(({ fault, moment }) => fault === claimed.name && moment === 'during')
      .map(({ t }) => t);
    return span === undefined ? [] : silences(story, claimed, during, span);
  });
}

/** Asked again until the first image, and once more right before the heal; while it is copied, not. */
function silences(
  { tells, records, scenario }: Story,
  { name: fault, askedAgain }: ClaimedFault,
  during: readonly number[],
  { fromMs, toMs }: FaultSpan,
): Reason[] {
  if (!tells.ends || !askedAgain) return [];
  const silent = (when: string): Reason =>
    because('CERTIFICATE_SILENT', `no certificate shows whether ${fault} still held ${when}`, {
      fault,
    });
  const imaged = records.find((each) => each.type === 'phase' && each.phase === 'first-image');
  const imagedMs = Math.min(imaged?.t ?? toMs, toMs);
  const asked = during.filter((t) => t >= fromMs && t <= toMs);
  const watched = [fromMs, ...asked.filter((t) => t <= imagedMs), imagedMs];
  const tooLong = silencesIn(watched, askedWithinMs(scenario.timers.grace)).map(silent);
  const isAskedLast = asked.some((t) => t >= imagedMs);
  return isAskedLast || imagedMs === toMs ? tooLong : [...tooLong, silent('when it was healed')];
}

// The part of certificates that only the disk can give: what survived a crash, what a severed path let
// through.

/** Empty where the fault was not a crash, or no image of the time after it was audited. */
export function crashCertificates(story: Story): CertificateRecord[] {
  const { fault, disk } = story.scenario;
  if (!losesPower(fault.kind)) return [];
  const image = story.records.find((record) => record.type === 'image' && record.image === 'first');
  if (image?.type !== 'image') return [];
  const { synced, unsynced } = image.evidence.canaries;
  const certificate = (claim: string, holds: boolean, evidence: string): CertificateRecord => ({
    type: 'certificate',
    t: image.t,
    fault: story.faultName,
    moment: 'during',
    claim,
    holds,
    evidence,
  });
  const found = (content: string | undefined): string =>
    content === undefined ? 'not on the image' : JSON.stringify(content.slice(0, 80));
  if (disk.flushes === 'ignored' && fault.powerLoss !== 'keeps') {
    // Whatever was on such a disk may be gone: canaries, journal, file system.
    const gone = synced !== canaryContent;
    const claim = 'a synced canary is gone: the disk had ignored the flush';
    return fault.powerLoss === 'drops' ? [certificate(claim, gone, found(synced))] : [];
  }
  return [
    certificate('a synced canary survived', synced === canaryContent, found(synced)),
    certificate(
      'an unsynced canary is gone',
      unsynced !== undefined && unsynced !== canaryContent,
      found(unsynced),
    ),
    ...dirtyJournal(story, certificate),
  ];
}

/** The next fsck found a journal to replay: the file system was not unmounted cleanly. */
function dirtyJournal(
  story: Story,
  certificate: (claim: string, holds: boolean, evidence: string) => CertificateRecord,
): CertificateRecord[] {
  // XFS has no fsck that tells: its log is replayed by the mount.
  if (story.scenario.volume.filesystem === 'xfs') return [];
  const stage = story.observations.find(
    (seen) => seen.t >= (story.faultAtMs ?? 0) && isGranted(csiCalls.stage)(seen),
  );
  if (stage === undefined) return [];
  const { fsck: said } = stage.data;
  const fsck = typeof said === 'string' ? said : 'no fsck output recorded';
  const dirty = fsck.includes('recovering journal');
  return [certificate('the journal was dirty before the next mount', dirty, fsck.slice(0, 300))];
}

/** Empty where the link survived, or the disk kept no log. */
export function linkCertificates(story: Story, marks: WriteMarks | undefined): CertificateRecord[] {
  const { scenario, faultName, faultAtMs } = story;
  if (scenario.fault.link === 'survives' || marks === undefined || faultAtMs === undefined)
    return [];
  const first = marks.severed[0];
  const { whileSevered } = marks.leaked;
  const until = first?.toMs === undefined ? 'the end' : `${sinceS(first.toMs, faultAtMs)} s`;
  return [
    {
      type: 'certificate',
      t: first?.fromMs ?? faultAtMs,
      fault: faultName,
      moment: 'during',
      claim: 'the disk took no write of the victim while its path was severed',
      holds: first !== undefined && whileSevered === 0,
      evidence:
        first === undefined
          ? 'the log of writes knows of no severed path'
          : `severed from ${sinceS(first.fromMs, faultAtMs)} s to ${until} after the fault; ` +
            `${whileSevered} writes applied meanwhile`,
    },
  ];
}

const sinceS = (atMs: number, faultAtMs: number): string => ((atMs - faultAtMs) / 1000).toFixed(1);
