/** What can only be alone on its cluster, opened as the volumes of a run are. */
import type { Closes, KubernetesTestbed, OpenedCluster, TestbedOptions } from './port.ts';

export const openedAlone =
  <T extends KubernetesTestbed>(
    open: (options: TestbedOptions) => Promise<T & Closes>,
  ): ((volumes: readonly TestbedOptions[]) => Promise<OpenedCluster<T>>) =>
  async ([volume, ...others]) => {
    if (volume === undefined || others.length > 0) throw new RangeError('it is opened alone');
    const cluster = await open(volume);
    const volumes = [{ status: 'fulfilled', value: cluster }] as const;
    return { cluster, volumes, close: () => cluster.close() };
  };
