/** Differences between model and reality that are known, each with its reason. */

export interface ListedDifference {
  /** A phase, `A before B`, `A only real`, `A only model`, or `verdict X`. */
  readonly what: string;
  /** Names of runs it is about; every run where absent. */
  readonly runs?: readonly string[];
  /** A phase may take so long in reality and still be this difference, s. Default: without end. */
  readonly toS?: number;
  readonly why: string;
}

const busy =
  'the machine was busy (2 cores, up to four runs side by side): the model has one of its own speed';
const oneMoment =
  'a real kubelet’s connections come back one by one, here the watch of pods before the node status; in the model all at one moment';

export const listedDifferences: readonly ListedDifference[] = [
  { what: 'not-ready → no-execute', toS: 1, why: busy },
  { what: 'detach-asked → detach-answered', toS: 1, why: busy },
  { what: 'pod-gone → created', toS: 2, why: busy },
  { what: 'pod-gone → unlisted', runs: ['partition-out-of-service'], toS: 2, why: busy },
  { what: 'unlisted → detach-asked', toS: 1, why: busy },
  { what: 'no-schedule before victim-unready', runs: ['partition-none'], why: busy },
  { what: 'running → serving', runs: ['partition-no-grace-period'], toS: 20, why: busy },
  { what: 'unpublished before ready-again', why: oneMoment },
  { what: 'unstaged before ready-again', why: oneMoment },
];

export interface Difference {
  readonly what: string;
  readonly run: string;
  /** Of a phase. */
  readonly realS?: number;
}

/** Why this difference is no news; undefined where it is. */
export function reasonFor(
  { what, run, realS }: Difference,
  listed: readonly ListedDifference[] = listedDifferences,
): string | undefined {
  return listed.find(
    (entry) =>
      entry.what === what &&
      (entry.runs === undefined || entry.runs.includes(run)) &&
      (entry.toS === undefined || realS === undefined || realS <= entry.toS),
  )?.why;
}
