/** Which harness measured: its version and a hash of its source, so that its changes are told from Kubernetes'. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { contentKey, filesUnder } from '../../images/part.ts';
import { projectRoot } from '../../images/plan.ts';

let known: string | undefined;

/** `0.1.0+3f9c0a1b2c3d`: 12 hex digits over lib and manifests, tests left out. Read once. */
export function harnessVersion(root = projectRoot): string {
  if (root !== projectRoot) return read(root);
  return (known ??= read(root));
}

function read(root: string): string {
  const manifest = readFileSync(`${root}/package.json`, 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const files = [`${root}/lib`, `${root}/manifests`]
    .flatMap(filesUnder)
    .filter((path) => !/[._]test\.\w+$/.test(path));
  // A file that moves changes the hash as well.
  const places = files.map((path) => relative(root, path));
  return `${version}+${contentKey(files, places)}`;
}
