/** One testbed of a backend, for tests that look at it or change it. */
import {
  type Backend,
  breakableBy,
  type Closes,
  openedAlone,
  type Testbed,
  type TestbedOptions,
} from '../../lib/run/ports/cluster.ts';
import { kindCapabilities } from '../../lib/run/ports/limits.ts';
import { able } from '../../lib/core/capabilities.ts';
import { simCapabilities } from '../../lib/sim/model.ts';

type OfModel = (typeof simCapabilities)[number];
type OfBoth = Exclude<OfModel, 'node-clock' | 'standby-manager'>;
export type AloneTestbed = Testbed<OfBoth> & Closes;

const ofKind = kindCapabilities('built');
const ofBoth = simCapabilities.filter((each): each is OfBoth => ofKind.includes(each));

/** With all that both backends have. Rejects as the volume's opening does, or as `able`; then nothing stays open. */
export async function openAlone(backend: Backend, options: TestbedOptions): Promise<AloneTestbed> {
  const opened = await backend.open([options]);
  try {
    const [volume] = opened.volumes;
    if (volume?.status !== 'fulfilled') throw volume?.reason;
    const { kubernetes, disk } = volume.value;
    return {
      ...volume.value,
      ...breakableBy(volume.value, ofBoth),
      kubernetes: able(able(kubernetes, 'kubernetes', ofBoth), 'pods', ofBoth),
      disk: able(disk, 'disk', ofBoth),
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The backend, with something in its testbeds changed. */
export const openingAs =
  (change: (testbed: AloneTestbed) => AloneTestbed) =>
  (model: Backend): Backend => ({
    ...model,
    open: openedAlone(async (options) => change(await openAlone(model, options))),
  });
