/** The table of docs/reference/kubernetes-versions.md, and the batches that ran on each minor. */
import { kubernetesReleases } from '../../lib/core/kubernetes.ts';

export const page = 'docs/reference/kubernetes-versions.md';

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const versionsTable = (): string =>
  table(
    ['Minor', 'built', 'published', 'supported until'],
    Object.entries(kubernetesReleases).map(([minor, { built, published, endOfLife }]) => [
      ...[minor, built, published, endOfLife],
    ]),
  );
