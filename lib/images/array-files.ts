/** What decides the array's program: its Go code without tests, the same on both image ways. */
import { filesUnder } from './part.ts';

/** The Go module, relative to the project's root. */
export const arrayModule = 'lib/csi/array';

/** Absolute. */
export const arrayFiles = (root: string): string[] =>
  filesUnder(`${root}/${arrayModule}`).filter(
    (path) => /(\.go|\/go\.(mod|sum))$/.test(path) && !path.endsWith('_test.go'),
  );

/** For `go build` in the module: a static program that names no place on this machine. */
export const arrayBuildFlags = '-trimpath -ldflags "-s -w"';
