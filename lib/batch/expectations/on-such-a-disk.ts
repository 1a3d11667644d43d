/**
 * What each remedy did on a kind of disk, counted from real runs: of ours, made to behave so, never of
 * the driver that somebody asked about. Where nothing was measured the reasoning stands, called so.
 */
import { existsSync } from 'node:fs';
import { type DiskMode, completeScenario, diskFields } from '../../scenario/index.ts';
import { eventsIn, wordsWorstFirst, expectationOf, type VerdictWord } from '../../judge/index.ts';
import { wilson } from '../../core/index.ts';
import {
  all,
  only,
  percentText,
  shareText,
  shortened,
  stock,
  textByRate,
  type EventFits,
} from './counts.ts';
import { storePath } from '../measurements/store.ts';
import { countsOf } from './races.ts';
import { readRuns, type RunLine } from './runs.ts';

export interface RemedyRow {
  /** What became of the node. */
  readonly node: 'cut off, alive' | 'dead';
  readonly remedy: string;
  /** Time from the detach to the cut; `ack-early` only. */
  readonly cutAfterMs?: number;
  /** What measured fault events came to; undefined: none was. */
  readonly stock: string | undefined;
  readonly short: string | undefined;
  /**
   * By reasoning from Kubernetes' source and from the kind of disk: no measurement. Absent of a late cut
   * with another delay than the one that was reasoned about.
   */
  readonly reasoned?: { readonly verdicts: readonly VerdictWord[]; readonly why: string };
}

const fates = [
  { node: 'cut off, alive', fault: 'network-partition' },
  { node: 'dead', fault: 'node-crash' },
] as const;

/** What people do about a lost node. */
const remedies = ['none', 'force-delete', 'out-of-service', 'delete-node', 'drain'] as const;

const defaultCutAfterMs = Number(diskFields.cutAfterMs.stock);

let known: readonly RunLine[] | undefined;

/** A copy without the project's data, such as an image of the probe alone, has counted nothing. */
export const hasRuns = (): boolean => existsSync(storePath);

/** `lines`: of the store. */
export function onSuchADisk(mode: DiskMode, lines?: readonly RunLine[]): RemedyRow[] {
  known ??= readRuns();
  const measured = (lines ?? known).filter(({ outcome }) => outcome.verdict !== 'inconclusive');
  return fates.flatMap(({ node, fault }) =>
    remedies.flatMap((remedy) => {
      const did = { fault, remedy, disk: mode };
      const { verdicts, because: why } = expectationOf(
        completeScenario({ name: 'asked', question: '?', expected: ['safe'], ...did }),
      );
      return delaysOf(measured, mode, did).map((cutAfterMs): RemedyRow => {
        // Which of the stock values a line leaves out is no matter of the count.
        const fits = only(did, ['cutAfterMs']);
        const asked: EventFits = (line) =>
          fits(line) && delayOf(line) === (cutAfterMs ?? delayOf(line));
        const isReasoned = (cutAfterMs ?? defaultCutAfterMs) === defaultCutAfterMs;
        return {
          ...{ node, remedy },
          ...(isReasoned ? { reasoned: { verdicts, why } } : {}),
          ...(cutAfterMs === undefined ? {} : { cutAfterMs }),
          stock: textByRate(measured.filter(all(asked, stock)), tally) || undefined,
          short: textByRate(measured.filter(all(asked, shortened)), tally) || undefined,
        };
      });
    }),
  );
}

const delayOf = ({ scenario }: RunLine): number =>
  Number(scenario['cutAfterMs'] ?? defaultCutAfterMs);

/** Each delay that was measured is a row of its own: the outcome hangs on it. */
function delaysOf(
  lines: readonly RunLine[],
  mode: DiskMode,
  did: { readonly fault: string; readonly remedy: string },
): (number | undefined)[] {
  if (mode !== 'ack-early') return [undefined];
  const runs = lines.filter(only({ ...did, disk: mode }, ['cutAfterMs']));
  const delays = [...new Set(runs.map(delayOf))].toSorted((a, b) => a - b);
  return delays.length === 0 ? [undefined] : delays;
}

/** `corrupt 13 of 13 (77–100 %)`, or each word and how many were not safe; volumes of one fault count once. */
function tally(lines: readonly RunLine[]): string {
  const counts = countsOf(lines);
  const of = eventsIn(counts);
  const each = wordsWorstFirst(counts);
  const [first, ...others] = each;
  if (first !== undefined && others.length === 0) {
    return `${first.word} ${shareText({ count: first.count, of })}`;
  }
  const { low, high } = wilson(of - (counts.safe ?? 0), of);
  const shown = each.map(({ word, count }) => `${word} ${count}`).join(', ');
  return `${shown} of ${of} (not safe: ${percentText(low)}–${percentText(high)} %)`;
}

/** What was done, to what. */
export const didInWords = ({ node, remedy, cutAfterMs }: RemedyRow): string =>
  `${node}: ${remedy}${cutAfterMs === undefined ? '' : `, cut ${cutAfterMs / 1000} s after the detach`}`;

export const isMeasured = ({ stock, short }: RemedyRow): boolean =>
  stock !== undefined || short !== undefined;

export const reasonedInWords = ({ reasoned }: RemedyRow): string =>
  reasoned === undefined ? '–' : `${reasoned.verdicts.join(' or ')}: ${reasoned.why}`;
