/**
 * Generates lib/storage/csi/gen from the protocols' own Go modules; run it again after changing a version.
 * buf is 93 MB, so it is fetched here by npx and is no dependency of the project.
 *
 *   npx zx scripts/gen-proto.mjs
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { $ } from '../lib/kind/engine/shell.ts';

const sources = [
  {
    module: 'github.com/container-storage-interface/spec@v1.13.0',
    path: 'csi.proto',
    as: 'csi.proto',
  },
  {
    module: 'k8s.io/kubelet@v0.34.4',
    path: 'pkg/apis/pluginregistration/v1/api.proto',
    as: 'pluginregistration.proto',
  },
];
const tools = ['-p', '@bufbuild/buf@1.75.0', '-p', '@bufbuild/protoc-gen-es@2.17.0'];
const out = resolve(import.meta.dirname, '../lib/storage/csi/gen');

const work = await mkdtemp(join(tmpdir(), 'forcedetach-proto-'));
try {
  const protos = join(work, 'proto');
  await mkdir(protos);
  for (const { module, path, as } of sources) {
    const { Dir } = JSON.parse((await $`go mod download -json ${module}`).stdout);
    const text = await readFile(join(Dir, path), 'utf8');
    await writeFile(join(protos, as), withoutGogo(text));
  }
  await writeFile(
    join(work, 'buf.gen.yaml'),
    [
      'version: v2',
      'plugins:',
      '  - local: protoc-gen-es',
      `    out: ${out}`,
      // Node runs the files as they are: TypeScript output has enums, which it refuses.
      '    opt: [target=js+dts, import_extension=js]',
      '',
    ].join('\n'),
  );
  await rm(out, { recursive: true, force: true });
  await $({ cwd: work })`npx --yes ${tools} buf generate proto`;
} finally {
  await rm(work, { recursive: true, force: true });
}

/**
 * Older revisions carry Go-only options whose import buf can't resolve.
 *
 * @param {string} text
 */
function withoutGogo(text) {
  return text
    .split('\n')
    .filter((line) => !line.includes('gogo'))
    .join('\n');
}
