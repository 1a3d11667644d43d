/**
 * The official external-provisioner, built from its Go module: dynamic volumes, as a cluster has them
 * that is not ours.
 */
import { definePart, type Part } from '../part.ts';
import { provisionerVersion } from '../versions.ts';
import { importImage } from './debian.ts';

const recipe = 'lib/images/built/provisioner';
const program = 'github.com/kubernetes-csi/external-provisioner/v6/cmd/csi-provisioner';

export function provisionerPart(root: string): Part {
  const files = [`${root}/${recipe}/go.mod`, `${root}/${recipe}/go.sum`];
  const flags = `-trimpath -ldflags "-s -w -X main.version=v${provisionerVersion}"`;
  return definePart('provisioner', { files, settings: [] }, (key, ref) => [
    'mkdir -p "$WORK/root"',
    `cd ${recipe}`,
    `CGO_ENABLED=0 go build ${flags} -o "$WORK/root/csi-provisioner" ${program}`,
    'tar -C "$WORK/root" -cf "$WORK/root.tar" --owner=0 --group=0 .',
    importImage('"$WORK/root.tar"', { name: 'provisioner', key, ref }, [
      'ENTRYPOINT ["/csi-provisioner"]',
    ]),
  ]);
}
