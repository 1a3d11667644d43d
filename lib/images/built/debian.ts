/** Debian root file systems by mmdebstrap, and their import as images. */
import * as recipe from '../../engine/recipe.ts';
import { labelChanges } from '../part.ts';

export interface DebianRoot {
  readonly suite: string;
  readonly variant: 'minbase' | 'essential';
  readonly packages: readonly string[];
  /** Script called with the new root, and what follows it. Default: none. */
  readonly customize?: { readonly script: string; readonly argument?: string };
}

// The machine's own mirror, so that a configured one serves here too; without one, Debian's.
const mirror =
  `$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' ` +
  `'Origin: Debian' 'Label: Debian' 2>/dev/null | sed -n 1p)`;

const unwanted = ['man', 'doc', 'locale', 'info'].map(
  (folder) => `--dpkgopt='path-exclude=/usr/share/${folder}/*'`,
);

/** One bash line that writes the root as a tar file. */
export function bootstrap(root: DebianRoot, tar: string): string {
  const hook = root.customize;
  return [
    `mmdebstrap --quiet --variant=${root.variant} --include=${root.packages.join(',')}`,
    ...unwanted,
    `--aptopt='APT::Install-Recommends "false"'`,
    // A mirror that is a snapshot of some days ago is as good.
    `--aptopt='Acquire::Check-Valid-Until "false"'`,
    ...(hook === undefined
      ? []
      : [`--customize-hook="'$PWD/${hook.script}' \\"\\$1\\" ${hook.argument ?? ''}"`]),
    `${root.suite} ${tar} ${mirror}`,
  ].join(' ');
}

/** One bash line that imports a tar file as the image of a part. */
export function importImage(
  tar: string,
  part: { readonly name: string; readonly key: string; readonly ref: string },
  instructions: readonly string[] = [],
): string {
  const changes = instructions.map((instruction) => `--change '${instruction}'`);
  const labels = labelChanges(part.name, part.key);
  return [recipe.importTar, ...changes, labels, tar, part.ref].filter(Boolean).join(' ');
}
