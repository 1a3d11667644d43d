/** The official CSI sidecars, each built from its Go module with the dependencies it asks for itself. */
import { definePart, type Part } from '../part.ts';
import { attacherVersion, provisionerVersion } from '../versions.ts';
import { importImage } from './debian.ts';

interface Sidecar {
  readonly name: 'attacher' | 'provisioner';
  readonly module: string;
  readonly version: string;
}

function sidecarPart(root: string, { name, module, version }: Sidecar): Part {
  const recipe = `lib/images/built/${name}`;
  const files = [`${root}/${recipe}/go.mod`, `${root}/${recipe}/go.sum`];
  const flags = `-trimpath -ldflags "-s -w -X main.version=v${version}"`;
  return definePart(name, { files, settings: [] }, (key, ref) => [
    'mkdir -p "$WORK/root"',
    `cd ${recipe}`,
    `CGO_ENABLED=0 go build ${flags} -o "$WORK/root/csi-${name}" ${module}/cmd/csi-${name}`,
    'tar -C "$WORK/root" -cf "$WORK/root.tar" --owner=0 --group=0 .',
    importImage('"$WORK/root.tar"', { name, key, ref }, [`ENTRYPOINT ["/csi-${name}"]`]),
  ]);
}

export const attacherPart = (root: string): Part =>
  sidecarPart(root, {
    name: 'attacher',
    module: 'github.com/kubernetes-csi/external-attacher/v4',
    version: attacherVersion,
  });

/** Dynamic volumes, as a cluster has them that is not ours. */
export const provisionerPart = (root: string): Part =>
  sidecarPart(root, {
    name: 'provisioner',
    module: 'github.com/kubernetes-csi/external-provisioner/v6',
    version: provisionerVersion,
  });
