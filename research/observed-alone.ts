/** What surrounds a run that has one volume, or none that it could share: as `shell.ts`, for one. */
import {
  type Closes,
  type CommonTestbed,
  type Opened,
  type TestbedOptions,
  mustHaveEnded,
  runObserved,
  type ObservedOptions,
  type ObservedRun,
  type ObservedVolume,
} from '../lib/run/index.ts';

/** Does what `runObserved` does, for one volume. Throws what ended it. */
export async function observedAlone<T extends CommonTestbed>(
  {
    open,
    ...options
  }: ObservedVolume &
    Pick<ObservedOptions<Opened<T>>, 'clock' | 'signal'> & {
      readonly open: (options: Pick<TestbedOptions, 'recorder' | 'signal'>) => Promise<T & Closes>;
    },
  work: (volumes: readonly ObservedRun<T>[]) => Promise<unknown>,
): Promise<void> {
  const opening: ObservedOptions<Opened<T>>['open'] = async ([volume]) => {
    if (volume === undefined) throw new RangeError('a run has at least one volume');
    const value = await open(volume);
    return { volumes: [{ status: 'fulfilled', value }], close: () => value.close() };
  };
  mustHaveEnded(await runObserved({ ...options, volumes: [options], open: opening }, work));
}
