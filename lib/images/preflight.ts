/** What this machine needs to build images; asked before anything is begun. */
import { $ } from 'zx';
import { program } from '../engine/commands.ts';
import { InfrastructureError } from '../errors.ts';
import type { Step } from './part.ts';

/** Go's oldest release that the committed modules accept. */
export const oldestGo = '1.26';

const fromGo = new Set(['kubernetes', 'attacher', 'pause', 'array']);
const fromDebian = new Set(['base', 'mysql', 'runtime', 'tools']);

/** The programs that building these steps needs. */
export function toolsFor(steps: readonly Step[]): string[] {
  const tools = new Set([program, 'flock', 'tar']);
  for (const { name } of steps) {
    if (fromGo.has(name)) ['go', 'jq'].forEach((tool) => tools.add(tool));
    if (fromDebian.has(name)) tools.add('mmdebstrap');
  }
  return [...tools];
}

/** Throws InfrastructureError `BUILD_TOOL_MISSING` that names all missing programs at once. */
export async function preflightBuild(steps: readonly Step[]): Promise<void> {
  const quiet = $({ quiet: true, nothrow: true });
  const found = await Promise.all(
    toolsFor(steps).map(async (tool) => ({
      tool,
      there: (await quiet`command -v ${tool}`).exitCode === 0,
    })),
  );
  const missing = found.filter(({ there }) => !there).map(({ tool }) => tool);
  if (missing.length === 0) return;
  throw new InfrastructureError(
    'BUILD_TOOL_MISSING',
    `building the images needs ${missing.join(', ')}, not found on this machine`,
    { hint: 'on Debian the set-up script installs them', command: 'sudo .ci/setup' },
  );
}
