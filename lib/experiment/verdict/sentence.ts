/** The verdict in one sentence with numbers, for a terminal line and the top of a report. */
import { countInWords } from '../../counts.ts';
import { secondsInWords } from '../../durations.ts';
import { firstTold, noticeInWords } from './notices.ts';
import { locksKeepApart, type UnsaidVerdict } from './headline.ts';
import { refusedInWords } from '../../timeline/refused-mounts.ts';

export function sentenceOf(verdict: UnsaidVerdict): string {
  const parts = [handover, damage, serving, notice].map((tell) => tell(verdict));
  const told = parts.filter(Boolean).join('; ');
  const prefix = verdict.basis === 'predicted' ? 'Prediction: ' : '';
  return `${prefix}${told.charAt(0).toUpperCase()}${told.slice(1)}.`;
}

/** Who was let in, when, and whether the other side was still there. */
function handover(told: UnsaidVerdict): string {
  const { phases, exposure, horizonS, scenario, custom } = told;
  const kind = custom?.fault ?? scenario['fault'];
  const fault = kind === 'none' ? 'start' : String(kind).replaceAll('-', ' ');
  if (horizonS === 0) return `the ${fault} never came`;
  const refused = told.refusedMounts.find(({ firstS }) => firstS < horizonS);
  if (phases.secondMount === null && refused !== undefined) {
    const could =
      exposure.ms === 0 ? '' : `; two nodes could write for ${secondsInWords(exposure.ms / 1000)}`;
    return `${refusedInWords(refused)}${could}; no second mount within ${secondsInWords(horizonS)} after the ${fault}`;
  }
  if (phases.secondMount === null && exposure.ms > 0)
    return `two nodes could write for ${secondsInWords(exposure.ms / 1000)}, though no second mount came within ${secondsInWords(horizonS)} after the ${fault}`;
  if (phases.secondMount === null)
    return `no second mount within ${secondsInWords(horizonS)} after the ${fault}`;
  const at = `another node mounted the volume ${secondsInWords(phases.secondMount)} after the ${fault}`;
  if (exposure.ms === 0) return `${at}, ${keptApart(told)}`;
  return `${at} while the victim could still write, for ${secondsInWords(exposure.ms / 1000)}`;
}

const keptApart = (told: UnsaidVerdict): string =>
  locksKeepApart(told)
    ? 'and its database waited for the file locks of the victim’s'
    : 'when the victim could no longer write';

function damage({ verdict, acked, loss, images, incompleteBecause }: UnsaidVerdict): string {
  if (verdict === 'inconclusive') {
    return `inconclusive, since ${incompleteBecause[0] ?? 'evidence is missing'}`;
  }
  const harmed = images.filter(({ lost, readable }) => lost !== 0 || !readable);
  const corrupt = verdict === 'corrupt' ? ' and the database is corrupt' : '';
  // Nobody was told of what else is lost, so no number of acknowledged commits has it.
  const seen = verdict === 'lost' ? ', and others that somebody saw are gone' : '';
  if (harmed.length === 0) {
    if (loss === null) {
      return `it is not known whether the ${countInWords(acked)} acknowledged commits are there${seen}${corrupt}`;
    }
    return `all ${countInWords(acked)} acknowledged commits are there${seen}${corrupt}`;
  }
  return harmed.map(harm).join(', and ') + corrupt;
}

/** Whole data that nobody can reach is half an answer. Damage says more, and comes before it. */
function serving({ verdict, serving: { served } }: UnsaidVerdict): string {
  if (served || (verdict !== 'safe' && verdict !== 'exposed')) return '';
  return `${verdict}, but nothing serves after the heal`;
}

/** What the fault did and what the heal did are told apart; what can't be read may still be there. */
function harm({ image, acked, lost, readable }: UnsaidVerdict['images'][number]): string {
  const when = image === 'second' ? 'after the heal' : 'before the heal';
  if (lost === null) {
    const are = image === 'second' ? 'are' : 'were';
    return `it is not known how many of ${countInWords(acked)} acknowledged commits ${are} there ${when}`;
  }
  const here = image === 'second' ? 'are missing' : 'were lost';
  return `${when} ${countInWords(lost)} of ${countInWords(acked)} acknowledged commits ${readable ? here : 'could not be read'}`;
}

function notice({ noticed, notices, verdict }: UnsaidVerdict): string {
  if (noticed === null || verdict === 'inconclusive') return '';
  if (noticed === 'silent') return 'no event, probe, error log or check told of it';
  const first = firstTold(notices);
  return first === undefined
    ? 'an operator would have been told'
    : `an operator would have been told, ${noticeInWords(first)}`;
}
