/** One testbed of a backend, for tests that look at it or change it. */
import { openedAlone } from '../../lib/cluster/opened-alone.ts';
import type { Backend, Closes, Testbed, TestbedOptions } from '../../lib/cluster/port.ts';

export type AloneTestbed = Testbed & Closes;

/** Rejects as the volume's opening does. */
export async function openAlone(backend: Backend, options: TestbedOptions): Promise<AloneTestbed> {
  const opened = await backend.open([options]);
  const [volume] = opened.volumes;
  if (volume?.status !== 'fulfilled') throw volume?.reason;
  return { ...volume.value, close: () => opened.close() };
}

/** The backend, with something in its testbeds changed. */
export const openingAs =
  (change: (testbed: AloneTestbed) => AloneTestbed) =>
  (model: Backend): Backend => ({
    ...model,
    open: openedAlone(async (options) => change(await openAlone(model, options))),
  });
