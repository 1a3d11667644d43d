/** A crash on machines with a kernel each, in about a minute: research/full/two-kernels.test.ts has the other cases. */
import { expect, test } from 'vitest';
import { twoKernelsLab } from '../../research/full/two-kernels-lab.ts';

const lab = twoKernelsLab();

test('a crash of a machine with its own kernel takes nothing that was acknowledged', async () => {
  const { images, takeover, acked } = await lab.run('crash', 'vms');
  expect(takeover).toMatchObject({ mounted: true, ready: true });
  expect(acked.victim).toBeGreaterThan(20);
  expect(acked.successor).toBeGreaterThan(20);
  expect(images).toMatchObject([{ image: 'second', safety: 'safe', complete: true }]);
});
