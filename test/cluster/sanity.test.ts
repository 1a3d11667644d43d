/** The driver conforms: csi-test's suite passes, whole, against the driver on a real array. */
import { expect, test } from 'vitest';
import bench from '../../bench/sanity.ts';
import { reason } from './csi-steps.ts';

/** Of csi-test 5.6.0: all that belong to what the driver offers. */
const counted = 57;

if (reason !== undefined) console.warn(`skipped: csi-sanity ${reason}`);

test.skipIf(reason !== undefined)('csi-sanity passes', async () => {
  const { data } = await bench({ onProgress: () => undefined });
  expect(data['failures']).toEqual([]);
  expect(data['failed']).toBe(0);
  expect(data['passed']).toBeGreaterThanOrEqual(counted);
});
