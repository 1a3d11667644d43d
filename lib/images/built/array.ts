/** The storage array: one static Go program and nothing else. */
import { arrayBuildFlags, arrayFiles, arrayModule } from '../array-files.ts';
import { definePart, type Part } from '../part.ts';
import { importImage } from './debian.ts';

export function arrayPart(root: string): Part {
  return definePart('array', { files: arrayFiles(root), settings: [] }, (key, ref) => [
    'mkdir -p "$WORK/root"',
    `cd ${arrayModule}`,
    `CGO_ENABLED=0 go build ${arrayBuildFlags} -o "$WORK/root/forcedetach-array" .`,
    'tar -C "$WORK/root" -cf "$WORK/root.tar" --owner=0 --group=0 .',
    importImage('"$WORK/root.tar"', { name: 'array', key, ref }, [
      'ENTRYPOINT ["/forcedetach-array"]',
    ]),
  ]);
}
