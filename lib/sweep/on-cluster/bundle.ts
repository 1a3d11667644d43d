/**
 * The code that a pod runs, small enough for a ConfigMap: the files that the shard's program
 * imports, ours and those of packages, as they are on this machine.
 */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { moduleBeside } from '../../core/module-beside.ts';
import { needCheckout, projectRoot } from '../../core/checkout.ts';
import { InfrastructureError } from '../../core/errors.ts';
import { planFile, type ShardPlan } from './shard.ts';

/** What a ConfigMap holds at most (1 MiB), less some room for its other keys. */
const mostBytes = 1_000_000;

/** A ConfigMap's content: names of files, and what is in them. */
export interface Bundle {
  readonly data: Readonly<Record<string, string>>;
  /** In base64. */
  readonly binaryData: Readonly<Record<string, string>>;
}

/** Throws InfrastructureError `BUNDLE_TOO_LARGE`, `BUNDLE_OUTSIDE`, `NEEDS_CHECKOUT`. */
export async function bundleOf(plan: ShardPlan): Promise<Bundle> {
  needCheckout('a sweep on a cluster');
  const packed = gzipSync(JSON.stringify(await filesOf('shard.ts')), { level: 9 });
  const planText = JSON.stringify(plan);
  if (packed.length + planText.length > mostBytes) {
    throw new InfrastructureError(
      'BUNDLE_TOO_LARGE',
      `the sweep's code and plan take ${packed.length + planText.length} bytes`,
      { hint: `a ConfigMap holds 1 MiB; give fewer --shards` },
    );
  }
  return {
    data: {
      'boot.mjs': readFileSync(new URL('boot.mjs', import.meta.url), 'utf8'),
      [planFile]: planText,
    },
    binaryData: { 'bundle.json.gz': packed.toString('base64') },
  };
}

/** By path from the project's root: what importing `entry` reads, and what Node asks beside it. */
async function filesOf(entry: string): Promise<Record<string, string>> {
  const worker = new Worker(moduleBeside('trace', import.meta), {
    workerData: new URL(entry, import.meta.url).href,
  });
  const [urls] = (await once(worker, 'message')) as [string[]];
  const paths = urls.filter((url) => url.startsWith('file:')).map((url) => pathIn(url));
  const manifests = paths.flatMap((path) => manifestsOf(path));
  const all = [...new Set([...paths, ...manifests])].toSorted();
  return {
    'package.json': '{ "type": "module" }',
    ...Object.fromEntries(all.map((path) => [path, readFileSync(join(projectRoot, path), 'utf8')])),
  };
}

function pathIn(url: string): string {
  const path = fileURLToPath(url);
  if (path.startsWith(`${projectRoot}/`)) return path.slice(projectRoot.length + 1);
  throw new InfrastructureError('BUNDLE_OUTSIDE', `${path} is outside the project folder`, {
    hint: 'install the packages into the project',
    command: 'npm ci',
  });
}

/** The package.json of each folder above a package's file, up to node_modules. */
function manifestsOf(path: string): string[] {
  const found: string[] = [];
  for (let at = path; at.includes('node_modules/'); at = at.slice(0, at.lastIndexOf('/'))) {
    const manifest = `${at}/package.json`;
    if (existsSync(join(projectRoot, manifest))) found.push(manifest);
  }
  return found;
}
