/** The driver conforms: csi-test's suite passes, whole, against the driver on a real array. */
import { expect, test } from 'vitest';
import bench from '../../bench/sanity.ts';
import { reason } from './csi-steps.ts';

/** Of csi-test 5.6.0: all that belong to what the driver offers. */
const counted = 57;

if (reason !== undefined) console.warn(`skipped: csi-sanity ${reason}`);

test.skipIf(reason !== undefined)('csi-sanity passes, with file systems and raw', async () => {
  const { data } = await bench({ onProgress: () => undefined });
  for (const accessType of ['mount', 'block']) {
    expect(data[accessType]).toMatchObject({ failed: 0, failures: [] });
    expect(data[accessType]).toHaveProperty(
      'passed',
      expect.toSatisfy((n) => n >= counted),
    );
  }
});
