/** What surrounds a run that has one volume, or none that it could share: as `observed.ts`, for one. */
import type { Closes, CommonTestbed, Opened, TestbedOptions } from '../lib/cluster/port.ts';
import type { SegmentList } from '../lib/history/events.ts';
import {
  mustHaveEnded,
  runObserved,
  type ObservedOptions,
  type ObservedRun,
  type ObservedVolume,
} from '../lib/experiment/run/observed.ts';
import { each } from '../lib/experiment/run/run-context.ts';

/** Does what `runObserved` does, for one volume. Throws what ended it. */
export async function observedAlone<T extends CommonTestbed>(
  {
    open,
    ...options
  }: ObservedVolume &
    Pick<ObservedOptions<Opened<T>>, 'clock' | 'signal'> & {
      readonly open: (options: Pick<TestbedOptions, 'recorder' | 'signal'>) => Promise<T & Closes>;
    },
  workOn: (volume: ObservedRun<T>) => {
    readonly whileObserved: () => Promise<void>;
    readonly afterwards?: () => Promise<void>;
    readonly end?: () => Promise<SegmentList>;
  },
): Promise<void> {
  const opening: ObservedOptions<Opened<T>>['open'] = async ([volume]) => {
    if (volume === undefined) throw new RangeError('a run has at least one volume');
    const value = await open(volume);
    return { volumes: [{ status: 'fulfilled', value }], close: () => value.close() };
  };
  const ended = await runObserved({ ...options, volumes: [options], open: opening }, (volumes) => {
    const works = volumes.map((volume) => ({ ...volume, work: workOn(volume) }));
    return {
      whileObserved: () => each(works, ({ work }) => work.whileObserved()),
      afterwards: () => each(works, async ({ work }) => work.afterwards?.()),
      end: async ({ index }) => (await works[index]?.work.end?.()) ?? {},
    };
  });
  mustHaveEnded(ended);
}
