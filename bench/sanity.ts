/**
 * csi-test's conformance suite against the driver on a real array, with file systems and with raw
 * devices. Needs root, FUSE and Go.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Driver } from '../test/cluster/csi-harness.ts';
import { runSanity, type SanityResult, sanityProgram } from '../test/support/csi-sanity.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

const accessTypes = ['mount', 'block'] as const;
type AccessType = (typeof accessTypes)[number];

export default async function bench({ onProgress }: BenchContext): Promise<BenchResult> {
  onProgress('building csi-sanity and the array, unless they are there');
  await sanityProgram();
  const results: Partial<Record<AccessType, SanityResult>> = {};
  const lines: string[] = [];
  for (const accessType of accessTypes) {
    const startedMs = performance.now();
    const result = await suite(accessType);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    const { passed, failed, skipped, failures } = result;
    results[accessType] = result;
    lines.push(
      `${accessType}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} s`,
      ...failures,
    );
  }
  const ok = Object.values(results).every(({ passed, failed }) => failed === 0 && passed > 0);
  return { ok, lines, data: results };
}

async function suite(accessType: AccessType): Promise<SanityResult> {
  await using driver = new Driver(mkdtempSync(join(tmpdir(), 'forcedetach-sanity-')));
  await driver.start('controller');
  await driver.start('worker');
  return await runSanity({
    controllerSocket: driver.socketOf('controller'),
    nodeSocket: driver.socketOf('worker'),
    folder: join(driver.root, 'sanity'),
    accessType,
  });
}
