/** What goes into the probe's image, the same on both image ways: this checkout, and its packages. */
import { readFileSync } from 'node:fs';
import { installedClosure } from './node-closure.ts';
import { filesUnder, type StagedCode } from './part.ts';

/** All that decides the harness's version is in it, so that a certificate names the same one. */
const folders = ['bin', 'experiments', 'lib', 'manifests'];
const files = ['docs/reference/drivers.yaml', 'package.json'];

export function stageProbe(root: string): StagedCode {
  const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const closure = installedClosure(root, Object.keys(dependencies));
  const all = [...folders, ...files];
  return {
    files: all.flatMap((path) => filesUnder(`${root}/${path}`)),
    settings: closure.map((entry) => `${entry.path}@${entry.version}`),
    commands: [
      'mkdir -p "$WORK/app"',
      `cp --parents -r ${[...all, ...closure.map((entry) => entry.path)].join(' ')} "$WORK/app"`,
    ],
  };
}
