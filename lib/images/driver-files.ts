/** What goes into the driver's image, the same on both image ways: our code and its packages. */
import { installedClosure } from './node-closure.ts';
import { filesUnder, type StagedCode } from './part.ts';

const shared = ['errors.ts', 'plain-text.ts', 'disk-kinds.ts', 'taints.ts', 'kubernetes-get.ts'];
const packages = ['@grpc/grpc-js', '@bufbuild/protobuf', 'zod'];

/** All of lib/csi, lib/disk-modes and the self-fencing sidecar but tests, what they take from lib/, and packages. */
export function stageDriver(root: string): StagedCode {
  const programs = ['csi', 'disk-modes', 'self-fence'].flatMap((folder) =>
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
