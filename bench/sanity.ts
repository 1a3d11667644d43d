/** csi-test's conformance suite against the driver on a real array. Needs root, FUSE and Go. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Driver } from '../test/cluster/csi-harness.ts';
import { runSanity, sanityProgram } from '../test/support/csi-sanity.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  onProgress('building csi-sanity and the array, unless they are there');
  await sanityProgram();
  await using driver = new Driver(mkdtempSync(join(tmpdir(), 'forcedetach-sanity-')));
  await driver.start('controller');
  await driver.start('worker');
  const startedMs = performance.now();
  const result = await runSanity({
    controllerSocket: driver.socketOf('controller'),
    nodeSocket: driver.socketOf('worker'),
    folder: join(driver.root, 'sanity'),
  });
  const seconds = (performance.now() - startedMs) / 1000;
  const { passed, failed, skipped, failures } = result;
  return {
    ok: failed === 0 && passed > 0,
    lines: [
      `${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds.toFixed(1)} s`,
      ...failures,
    ],
    data: { ...result, seconds },
  };
}
