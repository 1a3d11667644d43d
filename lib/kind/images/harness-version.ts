/** Which harness measured: the project's version and a hash of the source that decides a run. */
import { join, relative } from 'node:path';
import { projectVersion, projectRoot } from '../../core/index.ts';
import { contentKey, filesUnder } from './part.ts';

/** They tell what was measured, or score it: a new sentence of a page is no new harness. */
const tellers = /^lib\/(batch\/expectations|report)\//;
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
