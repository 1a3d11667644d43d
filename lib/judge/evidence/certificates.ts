/**
 * Certificates that only the disk can give: what survived a crash, what a severed path let through. When each
 * of a fault may be, and what each claims, are facts (`inPlace`, `certified`).
 */
import { type CertificateRecord, canaryContent, csiCalls, isGranted } from '../../history/index.ts';
import { losesPower } from '../../scenario/index.ts';
import type { Story } from '../timeline/story.ts';
import type { WriteMarks } from '../timeline/writes.ts';

const inFault = (
  { faultName: fault }: Story,
  t: number,
  [claim, holds, evidence]: readonly [claim: string, holds: boolean, evidence: string],
): CertificateRecord => ({
  ...({ type: 'certificate', moment: 'during', t, fault } as const),
  ...{ claim, holds, evidence },
});

/** Empty where the fault was not a crash, or no image of the time after it was audited. */
export function crashCertificates(story: Story): CertificateRecord[] {
  const { fault, disk } = story.scenario;
  const image = story.records.find((record) => record.type === 'image' && record.image === 'first');
  if (!losesPower(fault.kind) || image?.type !== 'image') return [];
  const { synced, unsynced } = image.evidence.canaries;
  const found = (content: string | undefined): string =>
    content === undefined ? 'not on the image' : JSON.stringify(content.slice(0, 80));
  const isThere = synced === canaryContent;
  const isGone = unsynced !== undefined && unsynced !== canaryContent;
  // Whatever was on a disk that ignores flushes may be gone: canaries, journal, file system.
  const ignored = 'a synced canary is gone: the disk had ignored the flush';
  const claims =
    disk.flushes === 'ignored' && fault.powerLoss !== 'keeps'
      ? [[ignored, !isThere, found(synced)] as const].filter(() => fault.powerLoss === 'drops')
      : [
          ['a synced canary survived', isThere, found(synced)] as const,
          ['an unsynced canary is gone', isGone, found(unsynced)] as const,
          ...dirtyJournal(story),
        ];
  return claims.map((each) => inFault(story, image.t, each));
}

/** The next fsck found a journal to replay: the file system was not unmounted cleanly. */
function dirtyJournal({ scenario, observations, faultAtMs = 0 }: Story) {
  const stage = observations.find((each) => each.t >= faultAtMs && isGranted(csiCalls.stage)(each));
  // XFS has no fsck that shows it: the mount replays its log.
  if (scenario.volume.filesystem === 'xfs' || stage === undefined) return [];
  const { fsck: output } = stage.data;
  const fsck = typeof output === 'string' ? output : 'no fsck output recorded';
  const isDirty = fsck.includes('recovering journal');
  return [['the journal was dirty before the next mount', isDirty, fsck.slice(0, 300)] as const];
}

/** Empty where the link survived, or the disk kept no log. */
export function linkCertificates(story: Story, marks: WriteMarks | undefined): CertificateRecord[] {
  const { scenario, faultAtMs } = story;
  if (scenario.fault.link === 'survives' || marks === undefined || faultAtMs === undefined)
    return [];
  const sinceS = (atMs: number): string => ((atMs - faultAtMs) / 1000).toFixed(1);
  const first = marks.severed[0];
  const { whileSevered } = marks.leaked;
  const until = first?.toMs === undefined ? 'the end' : `${sinceS(first.toMs)} s`;
  const evidence =
    first === undefined
      ? 'the log of writes has no severed path'
      : `severed from ${sinceS(first.fromMs)} s to ${until} after the fault; ` +
        `${whileSevered} writes applied meanwhile`;
  const claim = 'the disk took no write of the victim while its path was severed';
  const holds = first !== undefined && whileSevered === 0;
  return [inFault(story, first?.fromMs ?? faultAtMs, [claim, holds, evidence])];
}
