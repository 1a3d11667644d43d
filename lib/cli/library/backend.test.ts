import { expect, test } from 'vitest';
import { chooseBackend, type Probes } from './backend.ts';

const built = { source: 'built', reason: 'no registry' } as const;
const engine: Probes = {
  engine: async () => ({ answers: true, detail: '28.2.2' }),
  images: async () => built,
  module: (name) => name === 'nbd',
};
const noEngine: Probes = {
  engine: async () => ({ answers: false, detail: 'is the daemon running?' }),
  images: () => Promise.reject(new Error('no engine, no images')),
  module: () => false,
};
const flags = {
  cluster: 'auto',
  images: 'auto',
  kubernetes: '1.37',
  forceDetachAfterMs: 360_000,
} as const;

test('auto takes kind where an engine answers and says so', async () => {
  const choice = await chooseBackend(flags, engine);
  expect(choice).toMatchObject({ backend: 'kind', images: built });
  expect(choice.why).toContain('28.2.2');
});

test('auto takes the model where none answers and says so', async () => {
  const choice = await chooseBackend(flags, noEngine);
  expect(choice).toMatchObject({ backend: 'sim', why: 'no Docker engine answers' });
});

test('kind without an engine is an infrastructure error with a hint', async () => {
  await expect(chooseBackend({ ...flags, cluster: 'kind' }, noEngine)).rejects.toMatchObject({
    code: 'ENGINE_MISSING',
    exitCode: 4,
    hint: expect.stringContaining('start the engine'),
    message: expect.stringContaining('is the daemon running?'),
  });
});

test('a changed forced-detach wait takes built images without asking a registry', async () => {
  const noRegistry: Probes = { ...engine, images: () => Promise.reject(new Error('asked')) };
  const choice = await chooseBackend({ ...flags, forceDetachAfterMs: 30_000 }, noRegistry);
  expect(choice).toMatchObject({ backend: 'kind', images: { source: 'built' } });
});

test('a registry of ours is published images, whatever the forced-detach wait', async () => {
  const noRegistry: Probes = { ...engine, images: () => Promise.reject(new Error('asked')) };
  const asked = { ...flags, registry: '127.0.0.1:5000', forceDetachAfterMs: 30_000 };
  const choice = await chooseBackend(asked, noRegistry);
  expect(choice).toMatchObject({ images: { source: 'published', registry: '127.0.0.1:5000' } });
  await expect(chooseBackend({ ...asked, images: 'built' }, noRegistry)).rejects.toMatchObject({
    code: 'REGISTRY_NOT_ASKED',
    exitCode: 2,
  });
});

test('a kernel’s initiator is refused with what this kernel lacks', async () => {
  const kernel = { ...flags, initiator: 'kernel' } as const;
  await expect(chooseBackend(kernel, engine)).rejects.toMatchObject({
    ...{ code: 'INITIATOR_KERNEL', exitCode: 2 },
    message: expect.stringContaining('this kernel lacks iscsi_tcp, rbd, nfs)'),
    command: 'modprobe --all iscsi_tcp rbd nfs',
  });
  const all = { ...engine, module: () => true };
  await expect(chooseBackend(kernel, all)).rejects.toMatchObject({
    message: expect.stringContaining('has all of them'),
    command: undefined,
  });
});

test('members of a group share no node', async () => {
  const group = { ...flags, database: 'group-replication' } as const;
  await expect(chooseBackend({ ...group, workers: 2 }, engine)).rejects.toMatchObject({
    ...{ code: 'TOO_FEW_WORKERS', exitCode: 2 },
  });
  for (const workers of [undefined, 3]) {
    expect((await chooseBackend({ ...group, workers }, engine)).backend).toBe('kind');
  }
  expect((await chooseBackend({ ...flags, workers: 2 }, engine)).backend).toBe('kind');
});
