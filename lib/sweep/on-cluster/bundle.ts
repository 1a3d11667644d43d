/** The code that a pod runs, small enough for a ConfigMap: one module, with the packages that it takes. */
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'rolldown';
import { InfrastructureError, moduleBeside, needCheckout } from '../../core/index.ts';
import { planFile, type ShardPlan } from './shard.ts';

/** What a ConfigMap holds at most (1 MiB), less some room for its other keys. */
const mostBytes = 1_000_000;

export const podFile = 'pod.mjs';

/** A ConfigMap's content: names of files, and what is in them. Throws InfrastructureError `BUNDLE_TOO_LARGE`, `NEEDS_CHECKOUT`. */
export async function bundleOf(plan: ShardPlan): Promise<Readonly<Record<string, string>>> {
  needCheckout('a sweep on a cluster');
  const data = { [podFile]: await bundled(), [planFile]: JSON.stringify(plan) };
  const bytes = Buffer.byteLength(Object.values(data).join(''));
  if (bytes <= mostBytes) return data;
  const problem = `the sweep's code and plan take ${bytes} bytes`;
  throw new InfrastructureError('BUNDLE_TOO_LARGE', problem, {
    hint: `a ConfigMap holds 1 MiB; give fewer --shards`,
  });
}

async function bundled(): Promise<string> {
  const { rolldown } = await import('rolldown');
  await using bundle = await rolldown({
    input: fileURLToPath(moduleBeside('pod', import.meta)),
    platform: 'node',
    treeshake: {
      // Ours have none when they are imported; packages may.
      moduleSideEffects: [
        { test: /node_modules/, sideEffects: true },
        { test: /./, sideEffects: false },
      ],
    },
    plugins: [leavesOut],
  });
  const { output } = await bundle.generate({ format: 'es', minify: true });
  return output[0].code;
}

/** What is imported when it comes to that, such as clients of a real database: no pod runs it. */
const leavesOut: Plugin = {
  name: 'leave out what is imported later',
  resolveId: (id, _, { kind }) => (kind === 'dynamic-import' ? { id, external: true } : undefined),
};
