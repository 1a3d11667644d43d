/** All parts that are built on this machine, in an order in which each comes after its needs. */
import { kubernetesDefault, releaseOf, filesUnder } from '../../../core/index.ts';
import * as recipe from '../../engine/recipe.ts';
import {
  attacherVersion,
  cephPackages,
  definePart,
  type ImagePart,
  initiatorDebianSuite,
  initiatorPackages,
  labelChanges,
  mysqlDebianSuite,
  mysqlSeries,
  nodeDebianSuite,
  nodeVersion,
  type PartInputs,
  provisionerVersion,
  stageDriver,
} from '../part.ts';

/**
 * `provisioner`: of clusters whose volumes are provisioned; `initiator`: of those whose disks are reached over a
 * network; `nodeWithDriver`: what new nodes are made of.
 */
type PartName =
  | ('kubernetes' | 'attacher' | 'provisioner' | 'array' | 'initiator' | 'ceph' | 'pause' | 'base')
  | ('mysql' | 'node' | 'tools' | 'runtime' | 'driver' | 'nodeWithDriver');
export type BuiltParts = Readonly<Record<PartName, ImagePart>>;

const recipes = 'lib/kind/images/built';
const under = (root: string, folder: string, names: readonly string[]): string[] =>
  names.map((name) => `${root}/${folder}/${name}`);

export function builtParts(root: string, kubernetesVersion: string): BuiltParts {
  const base = basePart(root);
  const kubernetes = kubernetesPart(root, kubernetesVersion);
  const attacher = sidecarPart(root, 'attacher', 'external-attacher/v4', attacherVersion);
  const pause = pausePart(root);
  const mysql = mysqlPart(root);
  const runtime = runtimePart(root);
  // Base and Kubernetes' programs, and the images that every cluster needs in each node's containerd.
  const needs = [base, kubernetes, pause, mysql, attacher, runtime];
  const node = assembledPart(root, 'node', { script: 'assemble', of: kubernetesVersion, needs });
  const driver = driverPart(root, runtime);
  return {
    ...{ kubernetes, attacher, array: arrayPart(root), pause, base, mysql, node },
    // Dynamic volumes, as a cluster has them that is not ours.
    provisioner: sidecarPart(root, 'provisioner', 'external-provisioner/v6', provisionerVersion),
    ...{ initiator: initiatorPart(root), ceph: cephPart(root) },
    ...{ tools: toolsPart(root), runtime, driver },
    // What is put into nodes that run costs each cluster, and each node of it, again.
    nodeWithDriver: assembledPart(root, 'node-with-driver', {
      ...{ script: 'preload', of: 'node-with-driver', needs: [node, driver] },
    }),
  };
}

const tar = '"$WORK/root.tar"';
const pack = `tar -C "$WORK/root" -cf ${tar} --owner=0 --group=0 .`;

/** One line that makes the tar file the image of a part. */
function importImage(name: string, key: string, ref: string, instructions: readonly string[]) {
  const changes = instructions.map((instruction) => `--change '${instruction}'`);
  const words = [recipe.importTar, ...changes, labelChanges(name, key), tar, ref];
  // Where a key is made there is no reference yet.
  return words.filter(Boolean).join(' ');
}

/** One static Go program and nothing else. */
interface GoProgram {
  /** Folder of its module, relative to the project's root. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly flags: string;
  readonly program: string;
  readonly main: string;
}

const goPart = (name: string, { folder, files, flags, program, main }: GoProgram): ImagePart =>
  definePart(name, { files, settings: [] }, (key, ref) => [
    'mkdir -p "$WORK/root"',
    `cd ${folder}`,
    `CGO_ENABLED=0 go build ${flags} -o "$WORK/root/${program}" ${main}`,
    pack,
    importImage(name, key, ref, [`ENTRYPOINT ["/${program}"]`]),
  ]);

/** The storage array's Go module, relative to the project's root. */
export const arrayModule = 'lib/storage/csi/array';

/** What decides its program, the same on both image ways: absolute, without tests. */
export const arrayFiles = (root: string): string[] =>
  filesUnder(`${root}/${arrayModule}`).filter(
    (path) => /(\.go|\/go\.(mod|sum))$/.test(path) && !path.endsWith('_test.go'),
  );

const arrayPart = (root: string): ImagePart =>
  goPart('array', {
    ...{ folder: arrayModule, files: arrayFiles(root), flags: '-trimpath -ldflags "-s -w"' },
    ...{ program: 'forcedetach-array', main: '.' },
  });

/** An official CSI sidecar, built from its Go module with the dependencies it asks for itself. */
function sidecarPart(root: string, name: string, module: string, version: string): ImagePart {
  const [folder, program] = [`${recipes}/${name}`, `csi-${name}`];
  return goPart(name, {
    ...{ folder, program, main: `github.com/kubernetes-csi/${module}/cmd/${program}` },
    files: under(root, folder, ['go.mod', 'go.sum']),
    flags: `-trimpath -ldflags "-s -w -X main.version=v${version}"`,
  });
}

const kubernetesFolder = `${recipes}/kubernetes`;
/** What go.mod pins; pause has nothing of Kubernetes, so that all versions share it. */
const pinned = releaseOf(kubernetesDefault, 'built');

const buildPrograms = (version: string, programs: string): string =>
  `${kubernetesFolder}/build ${version} "$WORK" ${programs}`;

/** kube-apiserver, controller-manager, scheduler, kubelet, kubeadm, kubectl (one binary) and etcd. */
function kubernetesPart(root: string, version: string): ImagePart {
  const sources = ['go.mod', 'go.sum', 'build', 'module', 'main.go', 'force_detach.go'];
  const inputs = { files: under(root, kubernetesFolder, sources), settings: [version] };
  const names = ['apiserver', 'controller-manager', 'scheduler'].map((name) => `kube-${name}`);
  return definePart('kubernetes', inputs, (key, ref) => [
    buildPrograms(version, 'kube etcd'),
    'mkdir -p "$WORK/root/usr/local/bin" "$WORK/root/tmp"',
    'mv "$WORK/kube" "$WORK/etcd" "$WORK/root/usr/local/bin"',
    `for name in ${names.join(' ')}; do ln -s kube "$WORK/root/usr/local/bin/$name"; done`,
    pack,
    importImage('kubernetes', key, ref, ['ENV PATH=/usr/local/bin']),
  ]);
}

/** The pause container: holds a pod's namespaces. */
function pausePart(root: string): ImagePart {
  const files = under(root, kubernetesFolder, ['build', 'pause/main.go']);
  return definePart('pause', { files, settings: [] }, (key, ref) => [
    buildPrograms(pinned, 'pause'),
    'mkdir -p "$WORK/root"',
    'mv "$WORK/pause" "$WORK/root"',
    pack,
    importImage('pause', key, ref, ['ENTRYPOINT ["/pause"]']),
  ]);
}

interface DebianRoot {
  readonly suite: string;
  readonly variant: 'minbase' | 'essential';
  readonly packages: readonly string[];
  /** Script called with the new root, and the words behind it. */
  readonly customize: string;
  readonly inputs: PartInputs;
  /** Lines between the root and its import. Default: none. */
  readonly checks?: readonly string[];
  readonly instructions: readonly string[];
}

const unwanted = ['man', 'doc', 'locale', 'info'].map(
  (folder) => `--dpkgopt='path-exclude=/usr/share/${folder}/*'`,
);

// The machine's own mirror, so that a configured one serves here too; without one, Debian's.
const mirror =
  `$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' ` +
  `'Origin: Debian' 'Label: Debian' 2>/dev/null | sed -n 1p)`;

function debianPart(name: string, root: DebianRoot): ImagePart {
  const { suite, variant, packages, customize, inputs, checks = [], instructions } = root;
  const [script, ...words] = customize.split(' ');
  const bootstrap = [
    `mmdebstrap --quiet --variant=${variant} --include=${packages.join(',')}`,
    ...unwanted,
    `--aptopt='APT::Install-Recommends "false"'`,
    // A mirror that is a snapshot of some days ago is as good.
    `--aptopt='Acquire::Check-Valid-Until "false"'`,
    `--customize-hook="'$PWD/${script}' \\"\\$1\\" ${words.join(' ')}"`,
    `${suite} ${tar} ${mirror}`,
  ].join(' ');
  return definePart(name, inputs, (key, ref) => [
    bootstrap,
    ...checks,
    importImage(name, key, ref, instructions),
  ]);
}

const nodeFolder = `${recipes}/node`;
const nodeFiles = [
  ...['customize', 'entrypoint', 'kubelet-cgroup'],
  ...['containerd.toml', 'containerd.service', 'kubelet.service'],
];

/** The root of a node: Debian with systemd, containerd and what kubelet calls. */
const basePart = (root: string): ImagePart =>
  debianPart('base', {
    ...{ suite: nodeDebianSuite, variant: 'minbase', customize: `${nodeFolder}/customize` },
    packages: [
      'systemd systemd-sysv dbus hostname kmod ca-certificates procps',
      'containerd runc containernetworking-plugins',
      'iproute2 iptables nftables conntrack ethtool socat',
      'util-linux mount e2fsprogs xfsprogs perl-base',
    ].flatMap((line) => line.split(' ')),
    inputs: { files: under(root, nodeFolder, nodeFiles), settings: [] },
    instructions: [
      'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]',
      'ENV container=docker',
    ],
  });

const mysqlFolder = `${recipes}/mysql`;
const mysqlPackages = ['mysql-server-core', 'mysql-client-core'];

/** From Debian, trimmed, with an entrypoint that behaves as the official image's. */
const mysqlPart = (root: string): ImagePart =>
  debianPart('mysql', {
    ...{ suite: mysqlDebianSuite, variant: 'essential', packages: mysqlPackages },
    customize: `${mysqlFolder}/customize trim`,
    inputs: { files: [`${root}/${mysqlFolder}`], settings: [mysqlSeries] },
    // Debian's series moves on: another one must not pass for this.
    checks: [
      `tar -xOf ${tar} ./var/lib/dpkg/status |
      grep -A 9 '^Package: mysql-server-core' | grep -F 'Version: ${mysqlSeries}.'`,
    ],
    instructions: [
      'ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]',
      'CMD ["mysqld"]',
      'VOLUME /var/lib/mysql',
    ],
  });

const diskTools = [
  ...['util-linux', 'mount', 'e2fsprogs', 'xfsprogs', 'perl-base', 'procps', 'libstdc++6'],
];
const addNode = `${recipes}/tools/customize`;
const environment = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const toolsPart = (root: string): ImagePart =>
  debianPart('tools', {
    ...{ suite: mysqlDebianSuite, variant: 'essential', customize: `${addNode} mysql` },
    packages: [...mysqlPackages, 'iproute2', 'socat', ...diskTools],
    inputs: {
      files: [`${root}/${addNode}`, `${root}/${mysqlFolder}`],
      settings: [mysqlSeries, nodeVersion],
    },
    instructions: [environment, 'WORKDIR /app'],
  });

export const runtimePart = (root: string): ImagePart =>
  debianPart('runtime', {
    ...{ suite: mysqlDebianSuite, variant: 'essential', packages: diskTools, customize: addNode },
    inputs: { files: [`${root}/${addNode}`], settings: [nodeVersion] },
    instructions: [environment, 'CMD ["node"]'],
  });

const initiatorFolder = `${recipes}/initiator`;

/** qemu-storage-daemon, and servers of storage protocols. The program beside them is the array's own. */
const initiatorPart = (root: string): ImagePart =>
  debianPart('initiator', {
    ...{ suite: initiatorDebianSuite, variant: 'essential', packages: initiatorPackages },
    customize: `${initiatorFolder}/customize`,
    inputs: { files: [`${root}/${initiatorFolder}`], settings: [] },
    instructions: [environment],
  });

const cephFolder = `${recipes}/ceph`;

/** Of the initiator's suite, so that librbd and the osd are of one release. */
const cephPart = (root: string): ImagePart =>
  debianPart('ceph', {
    ...{ suite: initiatorDebianSuite, variant: 'essential', packages: cephPackages },
    customize: `${cephFolder}/customize`,
    inputs: { files: [`${root}/${cephFolder}`], settings: [] },
    instructions: [environment],
  });

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

interface Assembly {
  /** In the folder of the node's recipe. */
  readonly script: 'assemble' | 'preload';
  /** Its second word. */
  readonly of: string;
  readonly needs: readonly ImagePart[];
}

/** An image with others in its containerd. */
function assembledPart(root: string, name: string, { script, of, needs }: Assembly): ImagePart {
  const files = under(root, nodeFolder, [script, 'containerd.sh']);
  const settings = script === 'assemble' ? [of] : [];
  return definePart(name, { files, settings, needs }, (key, ref) => [
    [`${nodeFolder}/${script}`, ref, of, key, ...needs.map((part) => part.ref)].join(' '),
  ]);
}
