/** The official csi-attacher, built from its Go module with the dependencies it asks for itself. */
import { definePart, type Part } from '../part.ts';
import { attacherVersion } from '../versions.ts';
import { importImage } from './debian.ts';

const recipe = 'lib/images/built/attacher';
const program = 'github.com/kubernetes-csi/external-attacher/v4/cmd/csi-attacher';

export function attacherPart(root: string): Part {
  const files = [`${root}/${recipe}/go.mod`, `${root}/${recipe}/go.sum`];
  const flags = `-trimpath -ldflags "-s -w -X main.version=v${attacherVersion}"`;
  return definePart('attacher', { files, settings: [] }, (key, ref) => [
    'mkdir -p "$WORK/root"',
    `cd ${recipe}`,
    `CGO_ENABLED=0 go build ${flags} -o "$WORK/root/csi-attacher" ${program}`,
    'tar -C "$WORK/root" -cf "$WORK/root.tar" --owner=0 --group=0 .',
    importImage('"$WORK/root.tar"', { name: 'attacher', key, ref }, [
      'ENTRYPOINT ["/csi-attacher"]',
    ]),
  ]);
}
