/** What exactly was measured: versions and image ids, for every report. */
import { release } from 'node:os';
import { database } from '../../../database/chosen.ts';
import { harnessVersion } from '../../../images/harness-version.ts';
import type { ImageSet } from '../../../images/image-set.ts';
import { zoneLimitsText } from '../../../zone-limits.ts';
import type { Cluster } from '../cluster.ts';

export async function versionsOf(
  cluster: Cluster,
  images: ImageSet,
): Promise<Readonly<Record<string, string>>> {
  const lab = async (...argv: string[]): Promise<string> => (await cluster.lab.exec(argv)).trim();
  return {
    forcedetach: harnessVersion(),
    kubernetes: images.kubernetesVersion,
    'eviction limits': zoneLimitsText,
    images: images.source,
    [database.name]: await lab(database.server, '--version'),
    mkfs: (await lab('sh', '-c', 'mkfs.ext4 -V 2>&1')).split('\n')[0] ?? '',
    kernel: release(),
    node: process.version,
    ...Object.fromEntries(Object.entries(images.ids).map(([name, id]) => [`image ${name}`, id])),
  };
}
