/** The verdict in a few short sentences with numbers, for a terminal and the top of a report. */
import type { JudgedDatabase } from '../database.ts';
import { countInWords, secondsInWords } from '../../core/index.ts';
import { refusedInWords } from '../timeline/refused-mounts.ts';
import { corruptionIn } from './corruption.ts';
import { locksKeepApart, type UnsaidVerdict } from './headline.ts';
import { firstTold, noticeInWords } from './notices.ts';

export function sentenceOf(
  verdict: UnsaidVerdict,
  database: Pick<JudgedDatabase, 'server'>,
): string {
  const sentences = [handover, inconclusive, damage, serving, notice].flatMap((part) =>
    part(verdict, database),
  );
  const prefix = verdict.basis === 'predicted' ? 'Prediction: ' : '';
  return `${prefix}${sentences.map((each) => `${each.charAt(0).toUpperCase()}${each.slice(1)}.`).join(' ')}`;
}

/** Which node got the volume, when, and whether the other side could still write. */
function handover(verdict: UnsaidVerdict): string[] {
  const { phases, exposure, horizonS, scenario, custom, refusedMounts } = verdict;
  const kind = custom?.fault ?? scenario.fault.kind;
  const fault = kind === 'none' ? 'start' : kind.replaceAll('-', ' ');
  if (horizonS === 0) return [`the ${fault} never came`];
  const both =
    exposure.ms === 0
      ? []
      : [`two nodes could write the volume for ${secondsInWords(exposure.ms / 1000)}`];
  if (phases.secondMount === null) {
    const refused = refusedMounts.find(({ firstS }) => firstS < horizonS);
    const none = `no second mount came within ${secondsInWords(horizonS)} after the ${fault}`;
    return [...(refused === undefined ? [] : [refusedInWords(refused)]), ...both, none];
  }
  const mounted = `another node mounted the volume ${secondsInWords(phases.secondMount)} after the ${fault}`;
  return exposure.ms === 0 ? [`${mounted}, ${keptApart(verdict)}`] : [mounted, ...both];
}

const keptApart = (verdict: UnsaidVerdict): string =>
  locksKeepApart(verdict)
    ? 'and its database waited for the file locks of the victim’s'
    : 'when the victim could no longer write';

const inconclusive = ({ verdict, incompleteBecause }: UnsaidVerdict): string[] =>
  verdict === 'inconclusive'
    ? [`inconclusive: ${incompleteBecause[0] ?? 'evidence is missing'}`]
    : [];

function damage(verdict: UnsaidVerdict, database: Pick<JudgedDatabase, 'server'>): string[] {
  const { acked, loss, images, findings } = verdict;
  if (verdict.verdict === 'inconclusive') return [];
  const harmed = images.filter(({ lost, readable }) => lost !== 0 || !readable);
  const all = `the ${countInWords(acked)} acknowledged commits`;
  const copies =
    harmed.length > 0
      ? harmed.map(harm)
      : loss === null
        ? [`it is not known whether ${all} are there`]
        : [`all ${countInWords(acked)} acknowledged commits are there`];
  // They have no acknowledgement, so that no number of acknowledged commits counts them.
  const read =
    verdict.verdict === 'lost' && harmed.length === 0 ? ['others that a client read are gone'] : [];
  const corrupt =
    verdict.verdict === 'corrupt'
      ? [`the database is corrupt: ${corruptionIn(findings, database)}`]
      : [];
  return [...copies, ...read, ...corrupt];
}

/** Whole data that no client can reach is half an answer. Damage says more, and comes before it. */
const serving = ({ verdict, serving: { served } }: UnsaidVerdict): string[] =>
  served || (verdict !== 'safe' && verdict !== 'exposed')
    ? []
    : [`${verdict}, but nothing serves after the heal`];

/** What the fault did and what the heal did are told apart; what can't be read may still be there. */
function harm({ image, acked, lost, readable }: UnsaidVerdict['images'][number]): string {
  const when = image === 'second' ? 'after the heal' : 'before the heal';
  if (acked === 0 && !readable) return `${when}, the database could not be read`;
  const of = `of ${countInWords(acked)} acknowledged commits`;
  if (lost === null) return `it is not known how many ${of} were there ${when}`;
  return `${when}, ${countInWords(lost)} ${of} ${readable ? 'were lost' : 'could not be read'}`;
}

function notice({ noticed, notices, verdict }: UnsaidVerdict): string[] {
  if (noticed === null || verdict === 'inconclusive') return [];
  if (noticed === 'silent') return ['no event, probe, error log or check shows it'];
  const first = firstTold(notices);
  return [`visible to an operator${first === undefined ? '' : `: ${noticeInWords(first)}`}`];
}
