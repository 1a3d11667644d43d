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

const packages = ['@grpc/grpc-js', '@bufbuild/protobuf', 'zod'];

/** What its programs are bundled of, tests apart. */
const sources = ['core', 'history', 'kind/self-fence', 'scenario', 'storage'];
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
