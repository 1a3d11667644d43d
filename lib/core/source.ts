/** Source as it lies there: its hash, and which harness it makes. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { projectRoot, projectVersion } from './program.ts';

/** Hash of files (by name within their root and content) and settings: 12 hex digits. */
export function contentKey(files: readonly string[], settings: readonly string[]): string {
  const hash = createHash('sha256');
  for (const root of files) {
    for (const path of filesUnder(root)) {
      const content = readFileSync(path);
      const name = relative(root, path) || basename(path);
      hash.update(`file ${name} ${statSync(path).mode & 0o111} ${content.length}\n`);
      hash.update(content);
    }
  }
  hash.update(JSON.stringify(settings));
  return hash.digest('hex').slice(0, 12);
}

/** The file itself, or all files in a folder, sorted by path. */
export function filesUnder(root: string): string[] {
  if (!statSync(root).isDirectory()) return [root];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();
}

/** They tell what was measured, or score it: a new sentence of a page is no new harness. */
const tellers = /^lib\/(batch\/counted\.ts$|report\/)/;
const tests = /(\.test\.ts|_test\.go)$/;

/** 12 hex digits; the same for the same source, wherever it lies. */
export function harnessKey(root: string): string {
  const nameOf = (path: string): string => relative(root, path);
  const files = ['lib', 'manifests']
    .flatMap((folder) => filesUnder(join(root, folder)))
    .filter((path) => !tellers.test(nameOf(path)) && !tests.test(path));
  // A file that is given alone counts by its base name: their order and places are a setting.
  return contentKey(files, files.map(nameOf));
}

let known: string | undefined;

/** `0.1.0+<hash>`, of the source as it was when it was first asked for. */
export function harnessVersion(): string {
  // Once: hundreds of files are read, while the timers of other runs wait.
  known ??= `${projectVersion}+${harnessKey(projectRoot)}`;
  return known;
}
