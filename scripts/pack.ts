/**
 * `npm run pack [-- FLAGS OF npm pack]`: the npm package, compiled into dist/ and packed from there. Node runs
 * no TypeScript inside node_modules. The checkout itself has no version, so that `npm pack` refuses it.
 */
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { $ } from '../lib/kind/engine/shell.ts';
import { pageScript } from '../lib/report/document.ts';
import { projectVersion } from '../lib/core/program.ts';

/** Files that the library reads at run time, apart from those in lib/. */
const data = ['data', 'experiments/matrices', 'experiments/schedules', 'manifests'];

/** The compiler emits these, or only tests need them. */
const isCode = (path: string): boolean => /\.(ts|mjs)$/.test(path);

/** The compiler declares every imported module; users need those that the public types refer to. */
function keepTypesOf(entry: string): void {
  const needed = new Set([entry]);
  for (const file of needed) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/['"](\.[^'"]+)\.ts['"]/g)) {
      needed.add(`${join(dirname(file), name)}.d.ts`);
    }
  }
  for (const file of globSync('dist/**/*.d.ts')) if (!needed.has(file)) rmSync(file);
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: { readonly '.': Readonly<Record<string, string>> };
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * The checkout's, without its tools and its Node binary. One file of ECharts and the bundled pages' scripts are in
 * the package: npm would install 67 MB for ECharts and 22 MB for the bundler.
 */
function packageManifest(): Manifest {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  const { echarts: _, rolldown: __, ...dependencies } = manifest.dependencies;
  const checkoutOnly = {
    scripts: undefined,
    devDependencies: undefined,
    optionalDependencies: undefined,
  };
  return { ...manifest, ...checkoutOnly, version: projectVersion, dependencies } as Manifest;
}

async function build(manifest: Manifest): Promise<void> {
  rmSync('dist', { recursive: true, force: true });
  await $({ quiet: true })`tsc --project tsconfig.build.json`;
  await $({ quiet: true })`tsc --project tsconfig.types.json`;
  keepTypesOf('dist/index.d.ts');
  // Images are built in a checkout only.
  const filter = (path: string): boolean => !isCode(path) && basename(path) !== 'images';
  cpSync('lib', 'dist/lib', { recursive: true, filter });
  for (const path of [...data, 'bin', 'README.md', 'LICENSE']) {
    mkdirSync(dirname(join('dist', path)), { recursive: true });
    cpSync(path, join('dist', path), { recursive: true });
  }
  for (const name of ['page', 'batch'] as const) {
    writeFileSync(`dist/lib/report/browser/${name}.bundle`, await pageScript(name));
  }
  copyFileSync('node_modules/echarts/dist/echarts.min.js', 'dist/lib/report/echarts.min.cjs');
  copyFileSync('node_modules/echarts/NOTICE', 'dist/lib/report/echarts.NOTICE');
  writeFileSync('dist/package.json', `${JSON.stringify(manifest, undefined, 2)}\n`);
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const manifest = packageManifest();
await build(manifest);
const packed = await $({ quiet: true })`npm pack ./dist --json ${process.argv.slice(2)}`;
const [{ filename, files }] = JSON.parse(packed.stdout) as [Packed];
const entries = [...Object.values(manifest.bin), ...Object.values(manifest.exports['.'])];
const missing = entries.filter(
  (entry) => !files.some(({ path }) => path === entry.replace('./', '')),
);
if (missing.length > 0) throw new Error(`${filename} lacks ${missing.join(', ')}`);
process.stdout.write(`${filename}\n`);
