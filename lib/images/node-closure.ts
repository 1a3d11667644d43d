/** What of our code and of node_modules goes into an image: some packages, and all that they need. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder, type StagedCode } from './part.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface InstalledPackage {
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

const shared = [
  ...['errors.ts', 'plain-text.ts', 'disk-kinds.ts', 'taints.ts', 'kubernetes-get.ts'],
  'durations.ts',
];
const packages = ['@grpc/grpc-js', '@bufbuild/protobuf', 'zod'];

/** Into the driver's, the same on both image ways: all of lib/csi, lib/disk-modes, lib/fields and the self-fencing sidecar but tests, what they take from lib/, and packages. */
export function stageDriver(root: string): StagedCode {
  const programs = ['csi', 'disk-modes', 'fields', 'self-fence'].flatMap((folder) =>
    filesUnder(`${root}/lib/${folder}`),
  );
  const code = [...programs, ...shared.map((file) => `${root}/lib/${file}`)]
    .map((path) => path.slice(root.length + 1))
    .filter((path) => /\.(ts|js)$/.test(path) && !/\.(test|d)\.ts$/.test(path));
  const closure = installedClosure(root, packages);
  return {
    files: code.map((path) => `${root}/${path}`),
    settings: closure.map((entry) => `${entry.path}@${entry.version}`),
    commands: [
      'mkdir -p "$WORK/app"',
      `cp --parents ${code.join(' ')} "$WORK/app"`,
      `cp --parents -r ${closure.map((entry) => entry.path).join(' ')} "$WORK/app"`,
      `echo '{ "type": "module" }' >"$WORK/app/package.json"`,
    ],
  };
}
