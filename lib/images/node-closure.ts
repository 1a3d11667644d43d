/** Which packages of node_modules some packages need: themselves and all below, no duplicates. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface InstalledPackage {
  /** Path from the project's root, e.g. `node_modules/zod`. */
  readonly path: string;
  readonly version: string;
}

/** Sorted by path. A package that is not installed throws Node's own ENOENT. */
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

function outer(path: string): string {
  return path.slice(0, path.lastIndexOf('/node_modules/'));
}
