/** The kind program: the machine's own, or one built from its Go module into the cache folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from '../engine/shell.ts';
import { InfrastructureError } from '../errors.ts';
import { cacheFolder } from './build.ts';
import { kindVersion } from './versions.ts';

/** Its path. Throws InfrastructureError `KIND_MISSING` if there is none and none can be built. */
export async function ensureKind(): Promise<string> {
  const quiet = $({ quiet: true, nothrow: true });
  const own = (await quiet`command -v kind`).stdout.trim();
  if (own !== '') return own;
  const folder = join(cacheFolder(), `kind-${kindVersion}`);
  const path = join(folder, 'kind');
  if (existsSync(path)) return path;
  const install = $({ quiet: true, nothrow: true, env: { ...process.env, GOBIN: folder } });
  const built = await install`go install ${`sigs.k8s.io/kind@v${kindVersion}`}`;
  if (built.exitCode === 0) return path;
  throw new InfrastructureError('KIND_MISSING', 'kind is not on the PATH and cannot be built', {
    hint: 'install kind, or install Go to build it',
    command: `GOBIN=${folder} go install sigs.k8s.io/kind@v${kindVersion}`,
    cause: new Error(built.stderr.trim().split('\n').at(-1) ?? ''),
  });
}
