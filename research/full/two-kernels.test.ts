/**
 * The disk cases on both hosts, for real: containers of one kernel, and machines with a kernel each.
 * The control must lose commits, and the same crash of stock settings must not.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testNodeShell } from '../../test/contract/node-shell-contract.ts';
import type { Node } from '../two-kernels/host.ts';
import { hostKinds, twoKernelsLab } from './two-kernels-lab.ts';

const lab = twoKernelsLab();

describe.each(hostKinds)('a node of %s', (kind) => {
  let node: Node;
  beforeAll(async () => {
    node = await lab.host(kind).start('victim');
  });
  afterAll(() => node[Symbol.asyncDispose]());
  testNodeShell({ has: ['suspend', 'resume', 'powerOff'], now: () => node });
});

test.each(hostKinds)('on %s a crash takes nothing that was acknowledged', async (kind) => {
  const { images, takeover, acked } = await lab.run('crash', kind);
  expect(takeover).toMatchObject({ mounted: true, ready: true });
  expect(acked.victim).toBeGreaterThan(20);
  expect(acked.successor).toBeGreaterThan(20);
  expect(images).toMatchObject([{ image: 'second', safety: 'safe', complete: true }]);
});

test.each(hostKinds)('on %s the same crash takes the tail of trx_commit=2', async (kind) => {
  const { images } = await lab.run('crash-trx2', kind);
  const [image] = images;
  expect(image).toMatchObject({ safety: 'lost', readable: true, successor: { lost: 0 } });
  expect(image?.victim.lost).toBeGreaterThan(0);
  expect(image?.victim.lost).toBeLessThan(image?.victim.acked ?? 0);
});

test.each(hostKinds)('on %s a zombie takes back what its successor committed', async (kind) => {
  const [first, second] = (await lab.run('zombie', kind)).images;
  expect(first).toMatchObject({ image: 'first', safety: 'safe', complete: true });
  expect(['lost', 'corrupt']).toContain(second?.safety);
  expect(second?.successor).toMatchObject({ lost: second?.successor.acked });
});
