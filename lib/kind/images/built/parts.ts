/** All parts that are built on this machine, in an order in which each comes after its needs. */
import * as recipe from '../../engine/recipe.ts';
import { kubernetesDefault, releaseOf } from '../../../core/index.ts';
import { stageDriver } from '../node-closure.ts';
import { definePart, filesUnder, type ImagePart, labelChanges } from '../part.ts';
import {
  attacherVersion,
  mysqlDebianSuite,
  mysqlSeries,
  nodeDebianSuite,
  nodeVersion,
  provisionerVersion,
} from '../versions.ts';

/** `provisioner`: of clusters whose volumes are provisioned; `nodeWithDriver`: what new nodes are made of. */
type PartName =
  | ('kubernetes' | 'attacher' | 'provisioner' | 'array' | 'pause' | 'base' | 'mysql')
  | ('node' | 'tools' | 'runtime' | 'driver' | 'nodeWithDriver');
export type BuiltParts = Readonly<Record<PartName, ImagePart>>;

export function builtParts(root: string, kubernetesVersion: string): BuiltParts {
  const base = basePart(root);
  const kubernetes = kubernetesPart(root, kubernetesVersion);
  const attacher = attacherPart(root);
  const pause = pausePart(root);
  const mysql = mysqlPart(root);
  const runtime = runtimePart(root);
  const contents = { base, kubernetes, pause, preloaded: [mysql, attacher, runtime] };
  const node = nodePart(root, kubernetesVersion, contents);
  const driver = driverPart(root, runtime);
  return {
    kubernetes,
    attacher,
    provisioner: provisionerPart(root),
    array: arrayPart(root),
    pause,
    base,
    mysql,
    node,
    tools: toolsPart(root),
    runtime,
    driver,
    nodeWithDriver: nodeWithDriverPart(root, node, driver),
  };
}

/** One static Go program and nothing else. */
interface GoProgram {
  readonly name: string;
  /** Folder of its module, relative to the project's root. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly flags: string;
  readonly program: string;
  readonly main: string;
}

const goPart = ({ name, folder, files, flags, program, main }: GoProgram): ImagePart =>
  definePart(name, { files, settings: [] }, (key, ref) => [
    'mkdir -p "$WORK/root"',
    `cd ${folder}`,
    `CGO_ENABLED=0 go build ${flags} -o "$WORK/root/${program}" ${main}`,
    'tar -C "$WORK/root" -cf "$WORK/root.tar" --owner=0 --group=0 .',
    importImage('"$WORK/root.tar"', { name, key, ref }, [`ENTRYPOINT ["/${program}"]`]),
  ]);

/** The storage array's Go module, relative to the project's root. */
export const arrayModule = 'lib/storage/csi/array';

/** What decides its program, the same on both image ways: absolute, without tests. */
export const arrayFiles = (root: string): string[] =>
  filesUnder(`${root}/${arrayModule}`).filter(
    (path) => /(\.go|\/go\.(mod|sum))$/.test(path) && !path.endsWith('_test.go'),
  );

/** For `go build` in the module: a static program that names no place on this machine. */
export const arrayBuildFlags = '-trimpath -ldflags "-s -w"';

const arrayPart = (root: string): ImagePart =>
  goPart({
    ...{ name: 'array', folder: arrayModule, files: arrayFiles(root), flags: arrayBuildFlags },
    ...{ program: 'forcedetach-array', main: '.' },
  });

/** An official CSI sidecar, built from its Go module with the dependencies it asks for itself. */
function sidecarPart(
  root: string,
  name: 'attacher' | 'provisioner',
  { module, version }: { readonly module: string; readonly version: string },
): ImagePart {
  const [folder, program] = [`lib/kind/images/built/${name}`, `csi-${name}`];
  return goPart({
    ...{ name, folder, program, main: `github.com/kubernetes-csi/${module}/cmd/${program}` },
    files: [`${root}/${folder}/go.mod`, `${root}/${folder}/go.sum`],
    flags: `-trimpath -ldflags "-s -w -X main.version=v${version}"`,
  });
}

const attacherPart = (root: string): ImagePart =>
  sidecarPart(root, 'attacher', { module: 'external-attacher/v4', version: attacherVersion });

/** Dynamic volumes, as a cluster has them that is not ours. */
const provisionerPart = (root: string): ImagePart =>
  sidecarPart(root, 'provisioner', {
    module: 'external-provisioner/v6',
    version: provisionerVersion,
  });

const nodeFolder = 'lib/kind/images/built/node';

const nodePackages = [
  'systemd systemd-sysv dbus hostname kmod ca-certificates procps',
  'containerd runc containernetworking-plugins',
  'iproute2 iptables nftables conntrack ethtool socat',
  'util-linux mount e2fsprogs xfsprogs perl-base',
].flatMap((line) => line.split(' '));

const nodeFiles = [
  ...['customize', 'entrypoint', 'kubelet-cgroup'],
  ...['containerd.toml', 'containerd.service', 'kubelet.service'],
];

/** The root of a node: Debian with systemd, containerd and what kubelet calls. */
function basePart(root: string): ImagePart {
  const inputs = { files: nodeFiles.map((file) => `${root}/${nodeFolder}/${file}`), settings: [] };
  return definePart('base', inputs, (key, ref) => [
    bootstrap(
      {
        suite: nodeDebianSuite,
        variant: 'minbase',
        packages: nodePackages,
        customize: { script: `${nodeFolder}/customize` },
      },
      '"$WORK/root.tar"',
    ),
    importImage('"$WORK/root.tar"', { name: 'base', key, ref }, [
      'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]',
      'ENV container=docker',
    ]),
  ]);
}

/** The runtime and our code: the only part that an edit of lib/storage/csi rebuilds. */
function driverPart(root: string, runtime: ImagePart): ImagePart {
  const { files, settings, commands } = stageDriver(root);
  return definePart('driver', { files, settings, needs: [runtime] }, (key, ref) => [
    ...commands,
    ...recipe.addFolder({
      container: `forcedetach-build-${key}`,
      from: runtime.ref,
      folder: ['"$WORK/app/."', '/app'],
      changes: `--change 'ENTRYPOINT ["/usr/local/bin/node", "/app/lib/storage/csi/main.ts"]' ${labelChanges('driver', key)}`,
      ref,
    }),
  ]);
}

/** From Debian, trimmed, with an entrypoint that behaves as the official image's. */
function mysqlPart(root: string): ImagePart {
  const folder = 'lib/kind/images/built/mysql';
  const inputs = { files: [`${root}/${folder}`], settings: [mysqlSeries] };
  return definePart('mysql', inputs, (key, ref) => [
    bootstrap(
      {
        suite: mysqlDebianSuite,
        variant: 'essential',
        packages: ['mysql-server-core', 'mysql-client-core'],
        customize: { script: `${folder}/customize`, argument: 'trim' },
      },
      '"$WORK/root.tar"',
    ),
    // Debian's series moves on: another one must not pass for this.
    `tar -xOf "$WORK/root.tar" ./var/lib/dpkg/status |
      grep -A 9 '^Package: mysql-server-core' | grep -F 'Version: ${mysqlSeries}.'`,
    importImage('"$WORK/root.tar"', { name: 'mysql', key, ref }, [
      'ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]',
      'CMD ["mysqld"]',
      'VOLUME /var/lib/mysql',
    ]),
  ]);
}

const containerd = `${nodeFolder}/containerd.sh`;

interface NodeContents {
  readonly base: ImagePart;
  readonly kubernetes: ImagePart;
  readonly pause: ImagePart;
  /** Images put into each node's containerd beside the control plane's. */
  readonly preloaded: readonly ImagePart[];
}

/** Base, Kubernetes' programs, and the images that every cluster needs. */
function nodePart(root: string, version: string, contents: NodeContents): ImagePart {
  const { base, kubernetes, pause, preloaded } = contents;
  const needs = [base, kubernetes, pause, ...preloaded];
  const files = [`${nodeFolder}/assemble`, containerd].map((file) => `${root}/${file}`);
  const inputs = { files, settings: [version], needs };
  return definePart('node', inputs, (key, ref) => [
    [`${nodeFolder}/assemble`, ref, version, key, ...needs.map((part) => part.ref)].join(' '),
  ]);
}

/** What is put into nodes that run costs each cluster, and each node of it, again. */
function nodeWithDriverPart(root: string, node: ImagePart, driver: ImagePart): ImagePart {
  const name = 'node-with-driver';
  const files = [`${nodeFolder}/preload`, containerd].map((file) => `${root}/${file}`);
  return definePart(name, { files, settings: [], needs: [node, driver] }, (key, ref) => [
    [`${nodeFolder}/preload`, ref, name, key, node.ref, driver.ref].join(' '),
  ]);
}

const kubernetesFolder = 'lib/kind/images/built/kubernetes';
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
  `${kubernetesFolder}/build ${version} "$WORK" ${programs.join(' ')}`;

const inRecipe = (root: string, names: readonly string[]): string[] =>
  names.map((name) => `${root}/${kubernetesFolder}/${name}`);

const diskTools = [
  'util-linux',
  'mount',
  'e2fsprogs',
  'xfsprogs',
  'perl-base',
  'procps',
  'libstdc++6',
];
const addNode = 'lib/kind/images/built/tools/customize';
const environment = ['ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];

export function toolsPart(root: string): ImagePart {
  const packages = ['mysql-server-core', 'mysql-client-core', 'iproute2', 'socat', ...diskTools];
  const inputs = {
    files: [`${root}/${addNode}`, `${root}/lib/kind/images/built/mysql`],
    settings: [mysqlSeries, nodeVersion],
  };
  return definePart('tools', inputs, (key, ref) => [
    bootstrap(
      {
        suite: mysqlDebianSuite,
        variant: 'essential',
        packages,
        customize: { script: addNode, argument: 'mysql' },
      },
      '"$WORK/root.tar"',
    ),
    importImage('"$WORK/root.tar"', { name: 'tools', key, ref }, [...environment, 'WORKDIR /app']),
  ]);
}

export function runtimePart(root: string): ImagePart {
  const inputs = { files: [`${root}/${addNode}`], settings: [nodeVersion] };
  return definePart('runtime', inputs, (key, ref) => [
    bootstrap(
      {
        suite: mysqlDebianSuite,
        variant: 'essential',
        packages: diskTools,
        customize: { script: addNode },
      },
      '"$WORK/root.tar"',
    ),
    importImage('"$WORK/root.tar"', { name: 'runtime', key, ref }, [
      ...environment,
      'CMD ["node"]',
    ]),
  ]);
}

export interface DebianRoot {
  readonly suite: string;
  readonly variant: 'minbase' | 'essential';
  readonly packages: readonly string[];
  /** Script called with the new root, and what follows it. Default: none. */
  readonly customize?: { readonly script: string; readonly argument?: string };
}

// The machine's own mirror, so that a configured one serves here too; without one, Debian's.
const mirror =
  `$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' ` +
  `'Origin: Debian' 'Label: Debian' 2>/dev/null | sed -n 1p)`;

const unwanted = ['man', 'doc', 'locale', 'info'].map(
  (folder) => `--dpkgopt='path-exclude=/usr/share/${folder}/*'`,
);

/** One bash line that writes the root as a tar file. */
export function bootstrap(root: DebianRoot, tar: string): string {
  const hook = root.customize;
  return [
    `mmdebstrap --quiet --variant=${root.variant} --include=${root.packages.join(',')}`,
    ...unwanted,
    `--aptopt='APT::Install-Recommends "false"'`,
    // A mirror that is a snapshot of some days ago is as good.
    `--aptopt='Acquire::Check-Valid-Until "false"'`,
    ...(hook === undefined
      ? []
      : [`--customize-hook="'$PWD/${hook.script}' \\"\\$1\\" ${hook.argument ?? ''}"`]),
    `${root.suite} ${tar} ${mirror}`,
  ].join(' ');
}

/** One bash line that imports a tar file as the image of a part. */
export function importImage(
  tar: string,
  part: { readonly name: string; readonly key: string; readonly ref: string },
  instructions: readonly string[] = [],
): string {
  const changes = instructions.map((instruction) => `--change '${instruction}'`);
  const labels = labelChanges(part.name, part.key);
  return [recipe.importTar, ...changes, labels, tar, part.ref].filter(Boolean).join(' ');
}
