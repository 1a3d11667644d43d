/**
 * Fault events of the store, counted for the pages that quote them, and what each remedy did on a kind of disk:
 * on ours, made to behave so, never on the driver that a user asks about.
 */
import { existsSync } from 'node:fs';
import { eventsIn, wordsWorstFirst, expectationOf, type VerdictWord } from '../judge/index.ts';
import { wilson, type Count } from '../core/index.ts';
import { type DiskMode, type SettableName, completeScenario, fields } from '../scenario/index.ts';
import {
  countsOf,
  ofThisJudge,
  readRuns,
  scenarioOfLine,
  storePath,
  timing,
  type RunLine,
} from './measurements.ts';

export type EventFits = (line: RunLine) => boolean;

/** Values of scenario fields, or of each several that will do. */
export type Values = Readonly<Record<string, unknown>>;

const asTheyCome: readonly string[] = [...timing, 'load.rate', 'database.binlog'];

/**
 * Runs that had these values and were else as the stock scenario is, but for the fields of `any`. An
 * idle database counts only where that is said: `load.rate` 0.
 */
export function only(values: Values, any: readonly string[] = []): EventFits {
  const free = new Set([...asTheyCome, ...any, ...Object.keys(values)]);
  return ({ scenario }) =>
    (values['load.rate'] === 0 || scenario['load.rate'] !== 0) &&
    Object.entries(values).every(([name, wanted]) =>
      [wanted].flat().includes(scenario[name] ?? fields[name as SettableName].stock),
    ) &&
    Object.keys(scenario).every((name) => free.has(name));
}

export const all =
  (...asked: readonly EventFits[]): EventFits =>
  (line) =>
    asked.every((fits) => fits(line));

/** At the write rate that a run has by default, or idle: `only` lets an idle one through where a row names it. */
export const defaultRate: EventFits = ({ scenario }) =>
  [undefined, 0].some((rate) => rate === scenario['load.rate']);

export const stock: EventFits = ({ basis }) => basis === 'measured';
export const shortened: EventFits = ({ basis }) => basis === 'shortened';

/**
 * A race at another write rate than the default is another race (`raceKey`), so its events are
 * counted apart: the first number is what a run of the scenario is held against.
 */
export function textByRate(
  lines: readonly RunLine[],
  textOf: (lines: readonly RunLine[]) => string,
): string {
  const { own, other } = Object.groupBy(lines.filter(ofThisJudge), (line) =>
    defaultRate(line) || !expectationOf(scenarioOfLine(line)).isRace ? 'own' : 'other',
  );
  return [own ? textOf(own) : [], other ? `${textOf(other)} at other rates` : []].flat().join('; ');
}

/** `7 of 7 (65–100 %)`: with Wilson's interval of 95 %; a dash where there are none. */
export const shareText = ({ count, of }: Count): string =>
  of === 0 ? '–' : `${count} of ${of} (${intervalText({ count, of })})`;

function intervalText({ count, of }: Count): string {
  const { low, high } = wilson(count, of);
  return `${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)} %`;
}

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

const defaultCutAfterMs = Number(fields['disk.cutAfter'].stock);

let known: readonly RunLine[] | undefined;

/** A copy without the project's data, such as an image of the probe alone, has counted nothing. */
export const hasRuns = (): boolean => existsSync(storePath);

/** `lines`: of the store. */
export function onSuchADisk(mode: DiskMode, lines?: readonly RunLine[]): RemedyRow[] {
  known ??= readRuns();
  const measured = (lines ?? known).filter(({ outcome }) => outcome.verdict !== 'inconclusive');
  return fates.flatMap(({ node, fault }) =>
    remedies.flatMap((remedy) => {
      const did = { 'fault.kind': fault, 'remedy.kind': remedy, 'disk.mode': mode };
      const { verdicts, because: why } = expectationOf(
        completeScenario({
          ...{ name: 'asked', question: '?', expected: ['safe'] },
          ...{ fault: { kind: fault }, remedy: { kind: remedy }, disk: { mode } },
        }),
      );
      // Which of the stock values a line leaves out is no matter of the count.
      const runs = measured.filter(only(did, ['disk.cutAfter']));
      return delaysOf(runs, mode).map((cutAfterMs): RemedyRow => {
        const asked = runs.filter((line) => delayOf(line) === (cutAfterMs ?? delayOf(line)));
        const isReasoned = (cutAfterMs ?? defaultCutAfterMs) === defaultCutAfterMs;
        return {
          ...{ node, remedy },
          ...(isReasoned ? { reasoned: { verdicts, why } } : {}),
          ...(cutAfterMs === undefined ? {} : { cutAfterMs }),
          stock: textByRate(asked.filter(stock), tally) || undefined,
          short: textByRate(asked.filter(shortened), tally) || undefined,
        };
      });
    }),
  );
}

const delayOf = ({ scenario }: RunLine): number =>
  Number(scenario['disk.cutAfter'] ?? defaultCutAfterMs);

/** Each delay that was measured is a row of its own: the outcome hangs on it. */
function delaysOf(runs: readonly RunLine[], mode: DiskMode): (number | undefined)[] {
  if (mode !== 'ack-early' || runs.length === 0) return [undefined];
  return [...new Set(runs.map(delayOf))].toSorted((a, b) => a - b);
}

/** `corrupt 13 of 13 (77–100 %)`, or each word and how many were not safe; volumes of one fault count once. */
function tally(lines: readonly RunLine[]): string {
  const counts = countsOf(lines);
  const of = eventsIn(counts);
  const each = wordsWorstFirst(counts);
  const [first] = each;
  if (first !== undefined && each.length === 1) {
    return `${first.word} ${shareText({ count: first.count, of })}`;
  }
  const shown = each.map(({ word, count }) => `${word} ${count}`).join(', ');
  return `${shown} of ${of} (not safe: ${intervalText({ count: of - (counts.safe ?? 0), of })})`;
}

/** What was done, to what. */
export const didInWords = ({ node, remedy, cutAfterMs }: RemedyRow): string =>
  `${node}: ${remedy}${cutAfterMs === undefined ? '' : `, cut ${cutAfterMs / 1000} s after the detach`}`;

export const isMeasured = ({ stock, short }: RemedyRow): boolean =>
  stock !== undefined || short !== undefined;

export const reasonedInWords = ({ reasoned }: RemedyRow): string =>
  reasoned === undefined ? '–' : `${reasoned.verdicts.join(' or ')}: ${reasoned.why}`;
