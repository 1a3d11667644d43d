/** A part of the image set: one image, made by shell commands, cached under a key of its inputs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentKey, filesUnder } from '../../core/index.ts';

export interface ImageStep {
  readonly name: string;
  readonly ref: string;
  /** Bash lines that make `ref`, in order: run in the project's root, with `WORK` a scratch folder. */
  readonly commands: readonly string[];
}

/** A step of our own making: `ref` is `forcedetach/<name>:<key>`. */
export interface ImagePart extends ImageStep {
  /** 12 hex digits of a hash over all that decides the image's content. */
  readonly key: string;
}

/** Code of ours that goes into an image, as it is. */
export interface StagedCode {
  /** All files of our own that decide the image, absolute. */
  readonly files: readonly string[];
  /** The packages it takes, `path@version`. */
  readonly settings: readonly string[];
  /** Bash lines that lay everything out under `$WORK/app`. */
  readonly commands: readonly string[];
}

export interface PartInputs {
  /** Files and folders whose content decides the image; folders are taken whole. */
  readonly files: readonly string[];
  /** Versions, package lists and other settings that decide it. */
  readonly settings: readonly string[];
  /** Default: none. */
  readonly needs?: readonly ImagePart[];
}

/** Label of an image that was built here: the name of its part. */
export const partLabel = 'forcedetach.part';

/** Labels of an image, as arguments of an import or a commit. */
export const labelChanges = (name: string, key: string): string =>
  `--change 'LABEL ${partLabel}=${name}' --change 'LABEL forcedetach.key=${key}'`;

export function definePart(
  name: string,
  inputs: PartInputs,
  commands: (key: string, ref: string) => readonly string[],
): ImagePart {
  const needs = inputs.needs ?? [];
  // The commands are an input too, so they name no place on this machine (that is `$WORK`).
  const settings = [...inputs.settings, ...needs.map((part) => part.key), ...commands('', '')];
  const key = contentKey(inputs.files, settings);
  const ref = `forcedetach/${name}:${key}`;
  return { name, key, ref, commands: commands(key, ref) };
}

export const kindVersion = '0.33.0';
/** One series in both image ways, so that their verdicts can be compared. */
export const mysqlSeries = '9.7';
/** Also pinned in built/kubernetes/go.mod; a unit test holds both together. */
export const attacherVersion = '4.12.0';
/** Also pinned in built/provisioner/go.mod; the same test. */
export const provisionerVersion = '6.4.0';
/** Debian's release of the node root: systemd ≥ 257 (trixie) refuses cgroup v1. */
export const nodeDebianSuite = 'bookworm';
/** Debian's release that has MySQL of the series above. */
export const mysqlDebianSuite = 'sid';
/** Of bookworm's qemu-storage-daemon the FUSE export loses concurrent writes. */
export const initiatorDebianSuite = 'sid';
/** Of the initiators: the daemon with its protocols. Of the servers: iSCSI's, NFS's. */
export const initiatorPackages: readonly string[] = [
  ...['qemu-utils', 'qemu-block-extra', 'fuse3', 'iproute2'],
  ...['tgt', 'libiscsi-bin', 'nfs-ganesha', 'nfs-ganesha-vfs', 'rpcbind'],
];
/** A mon, an osd, and the programs that command them. */
export const cephPackages: readonly string[] = ['ceph-mon', 'ceph-osd', 'ceph-common'];
/** Node of the driver and the tools; the optional dependency node-linux-… brings it. */
export const nodeVersion = '24.21.0';
/** Official image with Node of that series, for code that needs no other tools. */
export const publishedRuntime = 'node:24-bookworm-slim';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface InstalledPackage {
  /** Path from the project's root, e.g. `node_modules/zod`. */
  readonly path: string;
  readonly version: string;
}

/**
 * Themselves and all below, no duplicates, sorted by path. A package that is not installed throws Node's
 * own ENOENT.
 */
export function installedClosure(root: string, names: readonly string[]): InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const visit = (name: string, from: string): void => {
    const path = resolveFrom(root, from, name);
    if (found.has(path)) return;
    const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Manifest;
    found.set(path, { path, version: manifest.version });
    for (const dependency of Object.keys(manifest.dependencies ?? {})) visit(dependency, path);
  };
  for (const name of names) visit(name, '');
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Node's own search: the nearest node_modules upwards from the package that asks. */
function resolveFrom(root: string, from: string, name: string): string {
  for (let at = from; at !== ''; at = at.includes('/node_modules/') ? outer(at) : '') {
    const nested = `${at}/node_modules/${name}`;
    if (existsSync(join(root, nested))) return nested;
  }
  return `node_modules/${name}`;
}

const outer = (path: string): string => path.slice(0, path.lastIndexOf('/node_modules/'));

const packages = ['@grpc/grpc-js', '@bufbuild/protobuf', 'zod'];

/** What its programs are bundled of, tests apart. */
const sources = ['core', 'kind/self-fence', 'scenario', 'storage'];
const bundler = 'lib/kind/images/driver.rolldown.mjs';

/** Into the driver's image, the same on both image ways: its programs, the self-fencing sidecar, and packages. */
export function stageDriver(root: string): StagedCode {
  const files = sources
    .flatMap((folder) => filesUnder(`${root}/lib/${folder}`))
    .filter((path) => /\.(ts|js)$/.test(path) && !/\.(test|d)\.ts$/.test(path));
  const closure = installedClosure(root, packages);
  const tool = installedClosure(root, ['rolldown']).map(({ version }) => version);
  return {
    files: [...files, `${root}/${bundler}`],
    settings: [...closure.map((entry) => `${entry.path}@${entry.version}`), ...tool],
    commands: [
      `node_modules/.bin/rolldown --config ${bundler} --dir "$WORK/app" --logLevel silent`,
      `cp --parents -r ${closure.map((entry) => entry.path).join(' ')} "$WORK/app"`,
      `echo '{ "type": "module" }' >"$WORK/app/package.json"`,
    ],
  };
}
