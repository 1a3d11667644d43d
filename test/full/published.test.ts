/**
 * The published path for real, as far as no foreign registry is needed: our images go into a
 * registry on loopback, come back by digest, and carry a run on kind.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { builtParts } from '../../lib/kind/images/built/parts.ts';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import { projectRoot } from '../../lib/core/program.ts';
import { kubernetesDefault, releaseOf } from '../../lib/core/kubernetes.ts';
import { mirroredNames, mirroredRef } from '../../lib/kind/images/image-plan.ts';
import { runExperiment } from '../cluster/experiment.ts';
import { startRegistry, type OciRegistry } from '../support/oci-registry.ts';
import { shortened } from '../cluster/short-run.ts';

const docker = $({ quiet: true });
const parts = builtParts(projectRoot, releaseOf(kubernetesDefault, 'built'));
const quick = [...shortened, '--warmup', '5s', '--overlap', '10s'];
let registry: OciRegistry;
/** By reference: as the publisher printed it. */
const digests = new Map<string, string>();

beforeAll(async () => {
  registry = await startRegistry();
  const { stdout } = await docker`node scripts/publish-images.ts ${registry.address}`;
  for (const line of stdout.trim().split('\n')) {
    const [ref = '', digest = ''] = line.split(' ');
    digests.set(ref, digest);
  }
});
afterAll(async () => {
  const columns = '{{.Repository}}:{{.Tag}} {{.Repository}}@{{.Digest}}';
  const { stdout } = await docker`docker image ls --digests --format ${columns}`;
  const ours = stdout.split(/\s/).filter((ref) => ref.startsWith(`${registry.address}/`));
  for (const ref of new Set(ours)) await docker`docker image rm ${ref}`.nothrow();
  await registry[Symbol.asyncDispose]();
});

const pulled = (): Promise<unknown> =>
  ensureImages({
    ...{ source: 'published', registry: registry.address, kubernetes: kubernetesDefault },
    onProgress: () => undefined,
  });

const about = async (ref: string, field: string): Promise<string> =>
  (await docker`docker image inspect --format ${`{{${field}}}`} ${ref}`).stdout.trim();

test('a run on images that were pulled by digest', async () => {
  expect(digests.size).toBe(mirroredNames.length);
  const { verdict, exitCode, stderr } = await runExperiment('network-partition', [
    ...['--cluster', 'kind', '--cluster-name', 'published', '--images', 'published'],
    ...['--registry', registry.address, '--remedy', 'force-delete', '--disk', 'fenced'],
    ...quick,
  ]);
  expect(verdict?.verdict, stderr).toBe('safe');
  expect(exitCode).toBe(0);
  expect(verdict?.phases.secondMount).not.toBeNull();
  expect(verdict?.versions['images']).toBe('published');
  expect(verdict?.replay).toContain(`--registry ${registry.address}`);
  // This cluster has no storage network.
  for (const name of mirroredNames.filter((each) => each !== 'initiator')) {
    const ref = mirroredRef(registry.address, parts[name]);
    expect(stderr).toContain(`images: making ${ref}`);
    expect(await about(ref, '.RepoDigests')).toContain(digests.get(ref));
    // What was built is what came back, and what ran.
    expect(await about(ref, '.Id')).toBe(await about(parts[name].ref, '.Id'));
    expect(verdict?.versions[`image ${name}`]).toBe(await about(ref, '.Id'));
  }
});

test('what was made of other sources is refused, whatever its tag says', async () => {
  const ref = mirroredRef(registry.address, parts.array);
  await docker`docker tag ${parts.attacher.ref} ${ref}`;
  await docker`docker push ${ref}`;
  await docker`docker image rm ${ref}`;
  await expect(pulled()).rejects.toMatchObject({
    code: 'IMAGE_FAILED',
    message: expect.stringContaining(`[' ${parts.attacher.key} = ${parts.array.key} ']`),
  });
  expect((await docker`docker image inspect ${ref}`.nothrow()).exitCode).not.toBe(0);
});
