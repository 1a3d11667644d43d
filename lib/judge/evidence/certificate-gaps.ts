/**
 * Where a fault is not proven from its beginning to its end: each needs certificates from before it,
 * from while it lasted and from after it was given back, and each belongs to the action whose time it
 * falls into.
 */
import { silencesIn } from '../../core/index.ts';
import { askedWithinMs, type CertificateRecord } from '../../history/index.ts';
import { isAskedAgain, losesPower } from '../../scenario/index.ts';
import type { Story } from '../timeline/story.ts';
import { spanOf, type FaultSpan } from './fault-effect.ts';

/** A sentence for each moment of a fault that no certificate speaks of. */
export function certificateGaps(story: Story): string[] {
  const { records, healAtMs } = story;
  const certificates = records.filter((record) => record.type === 'certificate');
  return claimedIn(story).flatMap((claimed) => {
    const fault = claimed.name;
    // A fault that never was in place is told as such.
    const span = spanOf(records, fault, healAtMs);
    if (span === undefined) return [];
    const own = certificates.filter((each) => each.fault === fault);
    const during = own.filter(({ moment }) => moment === 'during').map(({ t }) => t);
    const missing = moments
      .filter(({ moment }) => !(moment === 'after' && claimed.staysDown))
      .filter(
        ({ moment, fits }) => !own.some((each) => each.moment === moment && fits(each.t, span)),
      )
      .map(({ says }) => `no certificate says that ${fault} ${says}`);
    return [...missing, ...silences(story, claimed, during, span)];
  });
}

/** Asked again until the first image, and once more right before the heal; while it is copied, not. */
function silences(
  { tells, records, scenario }: Story,
  { name: fault, askedAgain }: Claimed,
  during: readonly number[],
  { fromMs, toMs }: FaultSpan,
): string[] {
  if (!tells.ends || !askedAgain) return [];
  const imaged = records.find((each) => each.type === 'phase' && each.phase === 'first-image');
  const imagedMs = Math.min(imaged?.t ?? toMs, toMs);
  const asked = during.filter((t) => t >= fromMs && t <= toMs);
  const watched = [fromMs, ...asked.filter((t) => t <= imagedMs), imagedMs];
  const tooLong = silencesIn(watched, askedWithinMs(scenario.timers.grace)).map(
    (span) => `no certificate shows whether ${fault} still held ${span}`,
  );
  const isAskedLast = asked.some((t) => t >= imagedMs);
  return isAskedLast || imagedMs === toMs
    ? tooLong
    : [...tooLong, `no certificate shows whether ${fault} still held when it was healed`];
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

/** A fault that a run claims. */
interface Claimed {
  readonly name: string;
  /** It lasts until the heal, and is asked meanwhile. */
  readonly askedAgain: boolean;
  /** Its victim is not healed. */
  readonly staysDown: boolean;
}

function claimedIn({ run, scenario, faultName }: Story): Claimed[] {
  const {
    fault: { kind: fault, reboot },
    also: { kind: also },
  } = scenario;
  const own = run.custom?.fault;
  return [
    {
      name: faultName,
      askedAgain: own === undefined ? isAskedAgain(fault) : own.askedAgain,
      staysDown: losesPower(fault) && !reboot,
    },
    { name: also, askedAgain: isAskedAgain(also), staysDown: false },
  ];
}
