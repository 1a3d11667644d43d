/** The pages' scripts: each begins with a module of browser/, and is bundled into one file by rolldown. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCheckout, projectRoot, writeOutput } from '../core/index.ts';

export type PageScript = 'page' | 'batch';

const folder = fileURLToPath(new URL('browser/', import.meta.url));
/** Folders of what is bundled. */
const folders = [folder, fileURLToPath(new URL('axis/', import.meta.url))];
const bundles = new Map<PageScript, Promise<string>>();

/** Bundled once a process. The npm package has the bundles in it (scripts/pack.ts). */
export function pageScript(name: PageScript): Promise<string> {
  const known = bundles.get(name) ?? (isCheckout ? cached(name) : read(`${folder}${name}.bundle`));
  bundles.set(name, known);
  return known;
}

const read = (path: string): Promise<string> => Promise.resolve(readFileSync(path, 'utf8'));

/** Rolldown takes 0.2 s, so its output is kept beside the packages for as long as the sources stay as they are. */
async function cached(name: PageScript): Promise<string> {
  const sources = folders.flatMap((each) => readdirSync(each).map((file) => join(each, file)));
  const hash = createHash('sha256');
  for (const file of sources.toSorted()) hash.update(readFileSync(file));
  const cache = join(projectRoot, 'node_modules/.cache/forcedetach');
  const path = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}.js`);
  if (existsSync(path)) return read(path);
  const script = await bundle(name);
  try {
    mkdirSync(cache, { recursive: true });
    writeOutput(path, script);
  } catch {
    // A read-only checkout: the next process bundles again.
  }
  return script;
}

async function bundle(name: PageScript): Promise<string> {
  const { rolldown } = await import('rolldown');
  await using bundled = await rolldown({
    input: join(folder, `${name}.ts`),
    treeshake: { moduleSideEffects: false },
  });
  const { output } = await bundled.generate({ format: 'es', minify: true });
  return output[0].code;
}
