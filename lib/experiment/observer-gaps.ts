/** Who was to watch from the fault to the second image, and when he did not. */
import { toldInSeconds } from '../durations.ts';
import { beatWithinMs } from '../history/observers.ts';
import { observed } from '../history/observations.ts';
import type { Story } from '../timeline/story.ts';

/** A sentence for each source that nobody watched, or not all the time. Of version 2 on. */
export function observerGaps(story: Story): string[] {
  const { hasEnds, faultAtMs, records, run } = story;
  if (!hasEnds || faultAtMs === undefined) return [];
  const toMs = story.secondImageAtMs ?? story.endAtMs;
  const gaps = neededSources(story).flatMap((source) => {
    const seen = story.observations.filter(({ data }) => seesOf(data).includes(source));
    const at = (name: string): number[] =>
      seen.filter((each) => each.name === name).map(({ t }) => t);
    if (at(observed.observerBegan).length === 0) return [`no observer of ${source} ever began`];
    const ended = at(observed.observerEnded);
    const early = ended.filter((t) => t < toMs);
    return [
      ...silences(
        [...at(observed.observerBegan), ...at(observed.observerBeat)],
        faultAtMs,
        toMs,
      ).map((gap) => `the observer of ${source} was silent ${gap}`),
      ...early.map(
        (t) => `the observer of ${source} ended at ${toldInSeconds(t)}, before the second image`,
      ),
      ...(ended.length === 0 ? [`the observer of ${source} never ended in good order`] : []),
    ];
  });
  if (run.backend !== 'kind') return gaps;
  const looked = records.filter(({ type }) => type === 'machine').map(({ t }) => t);
  return [
    ...gaps,
    ...silences(looked, faultAtMs, toMs).map((gap) => `nobody looked after the machine ${gap}`),
  ];
}

function neededSources({ scenario }: Story): string[] {
  const { fault, also, disk } = scenario;
  // Where the API server answers nobody, nobody is told anything.
  const api = fault === 'api-outage' || also === 'api-outage' ? [] : ['api'];
  return [...api, 'csi', 'mounts', ...(disk === 'shared-file' ? [] : ['devices'])];
}

const seesOf = (data: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Array.isArray(data['sees']) ? data['sees'] : [];

/** Within the span, from one sign of life to the next. */
function silences(times: readonly number[], fromMs: number, toMs: number): string[] {
  const signs = times.filter((t) => t > fromMs && t < toMs).toSorted((a, b) => a - b);
  const edges = [fromMs, ...signs, toMs];
  return edges.slice(1).flatMap((t, index) => {
    const before = edges[index] ?? t;
    return t - before > beatWithinMs
      ? [`from ${toldInSeconds(before)} to ${toldInSeconds(t)}`]
      : [];
  });
}
