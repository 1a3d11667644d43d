/** What exactly was measured: versions and image ids, for every report. */
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import type { ImageSet } from '../../images/image-set.ts';
import { zoneLimitsText } from '../../zone-limits.ts';
import type { Cluster } from './cluster.ts';

const projectVersion = (): string => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(text) as { version: unknown }).version);
};

export async function versionsOf(
  cluster: Cluster,
  images: ImageSet,
): Promise<Readonly<Record<string, string>>> {
  const lab = async (...argv: string[]): Promise<string> => (await cluster.lab.exec(argv)).trim();
  return {
    forcedetach: projectVersion(),
    kubernetes: images.kubernetesVersion,
    'eviction limits': zoneLimitsText,
    images: images.source,
    mysql: await lab('mysqld', '--version'),
    mkfs: (await lab('sh', '-c', 'mkfs.ext4 -V 2>&1')).split('\n')[0] ?? '',
    kernel: release(),
    node: process.version,
    ...Object.fromEntries(Object.entries(images.ids).map(([name, id]) => [`image ${name}`, id])),
  };
}
