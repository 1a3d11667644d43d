/** What can only be alone on its cluster, opened as a backend opens. */
import type { Backend, Closes, KubernetesTestbed, TestbedOptions } from './port.ts';

export const openedAlone =
  <T extends KubernetesTestbed>(
    open: (options: TestbedOptions) => Promise<T & Closes>,
  ): Backend<T>['open'] =>
  async ([volume, ...others]) => {
    if (volume === undefined || others.length > 0) throw new RangeError('it is opened alone');
    const cluster = await open(volume);
    const volumes = [{ status: 'fulfilled', value: cluster }] as const;
    return { cluster, volumes, close: () => cluster.close() };
  };
