/** One testbed of a backend, for tests that look at it or change it. */
import {
  type Backend,
  breakableBy,
  type Closes,
  openedAlone,
  type Testbed,
  type TestbedOptions,
} from '../../lib/run/ports/cluster.ts';
import { able } from '../../lib/core/capabilities.ts';
import { simCapabilities } from '../../lib/sim/model.ts';

type OfModel = (typeof simCapabilities)[number];
export type AloneTestbed = Testbed<OfModel> & Closes;

/** With all that the model has. Rejects as the volume's opening does, or as `able`. */
export async function openAlone(backend: Backend, options: TestbedOptions): Promise<AloneTestbed> {
  const opened = await backend.open([options]);
  const [volume] = opened.volumes;
  if (volume?.status !== 'fulfilled') throw volume?.reason;
  const { kubernetes, disk } = volume.value;
  return {
    ...volume.value,
    ...breakableBy(volume.value, simCapabilities),
    kubernetes: able(able(kubernetes, 'kubernetes', simCapabilities), 'pods', simCapabilities),
    disk: able(disk, 'disk', simCapabilities),
    close: () => opened.close(),
  };
}

/** The backend, with something in its testbeds changed. */
export const openingAs =
  (change: (testbed: AloneTestbed) => AloneTestbed) =>
  (model: Backend): Backend => ({
    ...model,
    open: openedAlone(async (options) => change(await openAlone(model, options))),
  });
