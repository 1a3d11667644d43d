/** Pods that were deleted and made anew on the same node: how long each took to be Ready. */
import { medianOf, plural } from '../../core/index.ts';
import { type ActionRecord, observed, type SmallRecord } from '../../history/index.ts';

/** Names of the runner's steps. */
export const recreation = {
  plain: 'delete the pod',
  forced: 'delete the pod by force',
} as const;

export interface Recreation {
  readonly forced: boolean;
  /** From the deletion until the next pod was Ready. */
  readonly readyAfterMs: number;
  /** The volume was taken from the node in between. */
  readonly detached: boolean;
}

/** In the order in which they came; those that never were Ready are left out. */
export function recreationsOf(records: readonly SmallRecord[]): Recreation[] {
  const steps = records.filter((record) => record.type === 'action');
  const seen = records.filter((record) => record.type === 'observation');
  const isRecreation = ({ name, step }: ActionRecord): boolean =>
    step === 'begin' && (name === recreation.plain || name === recreation.forced);
  return steps.filter(isRecreation).flatMap((begin) => {
    const done = steps.find(
      ({ t, name, step }) => name === begin.name && step === 'done' && t >= begin.t,
    );
    if (done === undefined) return [];
    const within = seen.filter(({ t }) => t >= begin.t && t <= done.t);
    const ready = within.findLast(({ name, data }) => name === observed.podReady && data.ready);
    return [
      {
        forced: begin.name === recreation.forced,
        readyAfterMs: (ready?.t ?? done.t) - begin.t,
        detached: within.some(({ name }) => name === observed.attachmentGone),
      },
    ];
  });
}

/** One line a kind of deletion: how many, the shortest, the median, the longest, and a histogram. */
export const describeRecreations = (all: readonly Recreation[]): string[] =>
  [false, true].flatMap((forced) => {
    const some = all.filter((each) => each.forced === forced);
    if (some.length === 0) return [];
    const times = some.map(({ readyAfterMs }) => readyAfterMs / 1000).toSorted((a, b) => a - b);
    const median = medianOf(times) ?? 0;
    const detached = some.filter((each) => each.detached).length;
    const how = forced ? 'by force' : 'as usual';
    const between = `${times[0]?.toFixed(1)} to ${times.at(-1)?.toFixed(1)} s`;
    return [
      `${plural(some.length, 'pod')} deleted ${how}: Ready after ${between}, median ${median.toFixed(1)} s, ` +
        `detached in between in ${detached}; ${histogram(times)}`,
    ];
  });

/** Upper bounds of the classes, in seconds. */
const bounds = [2, 5, 10, 20, 40, 80, 160, Infinity];

function histogram(seconds: readonly number[]): string {
  const classes = bounds.map((below, index) => {
    const from = bounds[index - 1] ?? 0;
    const count = seconds.filter((each) => each >= from && each < below).length;
    return { label: below === Infinity ? `from ${from} s` : `${from} to ${below} s`, count };
  });
  return classes
    .filter(({ count }) => count > 0)
    .map(({ label, count }) => `${label}: ${count}`)
    .join(', ');
}
