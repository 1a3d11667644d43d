/**
 * Where a fault is not proven from its beginning to its end: each needs certificates from before it,
 * from while it lasted and from after it was given back, and each belongs to the action whose time it
 * falls into.
 */
import { losesPower, type FaultKind } from '../fault-kinds.ts';
import type { CertificateRecord } from '../history/events.ts';
import type { Story } from '../timeline/story.ts';
import { spanOf, type FaultSpan } from './fault-span.ts';

/** A sentence for each moment of a fault that no certificate speaks of. */
export function certificateGaps(story: Story): string[] {
  const { scenario, records, healAtMs } = story;
  const certificates = records.filter((record) => record.type === 'certificate');
  return [scenario.fault, scenario.also].flatMap((fault) => {
    // A fault that never was in place is told as such.
    const span = spanOf(records, fault, healAtMs);
    if (span === undefined) return [];
    const own = certificates.filter((each) => each.fault === fault);
    return moments
      .filter(({ moment }) => !(moment === 'after' && isLeftDown(story, fault)))
      .filter(
        ({ moment, fits }) => !own.some((each) => each.moment === moment && fits(each.t, span)),
      )
      .map(({ says }) => `no certificate says that ${fault} ${says}`);
  });
}

interface Needed {
  readonly moment: CertificateRecord['moment'];
  readonly says: string;
  readonly fits: (t: number, span: FaultSpan) => boolean;
}

const moments: readonly Needed[] = [
  {
    moment: 'before',
    says: 'found its victim whole',
    fits: (t, { beginMs }) => t <= beginMs,
  },
  {
    moment: 'during',
    says: 'took effect',
    fits: (t, { beginMs, toMs }) => t >= beginMs && t <= toMs,
  },
  {
    moment: 'after',
    says: 'was healed',
    fits: (t, { overMs }) => t >= overMs,
  },
];

const isLeftDown = ({ scenario }: Story, fault: FaultKind | 'none'): boolean =>
  losesPower(fault) && !scenario.reboot;
