/** Kubernetes' programs, etcd and pause, built from Go modules: two small images. */
import { kubernetesDefault, releaseOf } from '../../kubernetes-versions.ts';
import { definePart, type ImagePart } from '../part.ts';
import { importImage } from './debian.ts';

const recipe = 'lib/images/built/kubernetes';
const sources = ['go.mod', 'go.sum', 'build', 'module', 'main.go', 'force_detach.go'];
/** What go.mod pins; pause has nothing of Kubernetes, so that all versions share it. */
const pinned = releaseOf(kubernetesDefault, 'built');
const path = 'ENV PATH=/usr/local/bin';

/** kube-apiserver, controller-manager, scheduler, kubelet, kubeadm, kubectl (one binary) and etcd. */
export function kubernetesPart(root: string, version: string): ImagePart {
  const inputs = { files: inRecipe(root, sources), settings: [version] };
  const names = ['apiserver', 'controller-manager', 'scheduler'].map((name) => `kube-${name}`);
  return definePart('kubernetes', inputs, (key, ref) => [
    build(version, ['kube', 'etcd']),
    'mkdir -p "$WORK/root/usr/local/bin" "$WORK/root/tmp"',
    'mv "$WORK/kube" "$WORK/etcd" "$WORK/root/usr/local/bin"',
    `for name in ${names.join(' ')}; do ln -s kube "$WORK/root/usr/local/bin/$name"; done`,
    pack,
    importImage('"$WORK/root.tar"', { name: 'kubernetes', key, ref }, [path]),
  ]);
}

/** The pause container: holds a pod's namespaces. */
export function pausePart(root: string): ImagePart {
  const inputs = { files: inRecipe(root, ['build', 'pause/main.go']), settings: [] };
  return definePart('pause', inputs, (key, ref) => [
    build(pinned, ['pause']),
    'mkdir -p "$WORK/root"',
    'mv "$WORK/pause" "$WORK/root"',
    pack,
    importImage('"$WORK/root.tar"', { name: 'pause', key, ref }, ['ENTRYPOINT ["/pause"]']),
  ]);
}

const pack = 'tar -C "$WORK/root" -cf "$WORK/root.tar" --owner=0 --group=0 .';

const build = (version: string, programs: readonly string[]): string =>
  `${recipe}/build ${version} "$WORK" ${programs.join(' ')}`;

const inRecipe = (root: string, names: readonly string[]): string[] =>
  names.map((name) => `${root}/${recipe}/${name}`);
