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
import { basename, dirname, join, relative } from 'node:path';
import { $ } from '../lib/kind/engine/shell.ts';
import { pageScript } from '../lib/report/document.ts';
import { projectVersion } from '../lib/core/program.ts';

/** Files that the library reads at run time, apart from those in lib/. */
const data = ['data', 'experiments/matrices', 'experiments/schedules', 'manifests'];

/** The compiler emits these, or only tests need them. */
const isCode = (path: string): boolean => /\.(ts|mjs)$/.test(path);

const exported =
  /^export (?:declare )?(?:abstract )?(?:class|const|enum|function|interface|type) (\w+)/gm;
const named = /^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)\.ts';$/gm;
const declarationOf = (file: string, path: string): string => `${join(dirname(file), path)}.d.ts`;
const bareName = (entry: string): string =>
  entry
    .trim()
    .replace(/^type /, '')
    .split(' as ')[0] ?? '';

/** Where each name of a room's face is declared. */
function declaredBy(face: string): ReadonlyMap<string, string> {
  const text = readFileSync(face, 'utf8');
  const whole = [...text.matchAll(/^export \* from '(\.[^']+)\.ts';$/gm)].flatMap(
    ([, path = '']) => {
      const file = declarationOf(face, path);
      return [...readFileSync(file, 'utf8').matchAll(exported)].map(
        ([, name = '']) => [name, file] as const,
      );
    },
  );
  const listed = [...text.matchAll(named)].flatMap(([, names = '', path = '']) =>
    names.split(',').map((name) => [bareName(name), declarationOf(face, path)] as const),
  );
  return new Map([...whole, ...listed]);
}

/** Declarations refer to the files of what they name: a face would take the types of its whole room along. */
function passFaces(): void {
  const faces = new Map(globSync('dist/lib/*/index.d.ts').map((face) => [face, declaredBy(face)]));
  const placeOf = (file: string, path: string, name: string): string => {
    const place = faces.get(declarationOf(file, path))?.get(name);
    if (place === undefined) return path;
    const way = relative(dirname(file), place).replace(/\.d\.ts$/, '');
    return way.startsWith('.') ? way : `./${way}`;
  };
  for (const file of globSync('dist/**/*.d.ts').filter((each) => !faces.has(each))) {
    const text = readFileSync(file, 'utf8')
      .replaceAll(named, (line, names: string, path: string) => {
        const entries = names.split(',').filter((name) => name.trim() !== '');
        const byPlace = Map.groupBy(entries, (name) => placeOf(file, path, bareName(name)));
        const [head] = line.split('{');
        return [...byPlace]
          .map(([place, some]) => `${head}{${some.join(',')} } from '${place}.ts';`)
          .join('\n');
      })
      .replaceAll(
        /import\("(\.[^"]+)\.ts"\)\.(\w+)/g,
        (_, path: string, name: string) => `import("${placeOf(file, path, name)}.ts").${name}`,
      );
    writeFileSync(file, text);
  }
}

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
  passFaces();
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
