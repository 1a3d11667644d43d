/** Drivers that answer something else than they do, on a real array, without Kubernetes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { createVolume, newDriver, pathOf, publish, reason, stage, unpublish } from './csi-steps.ts';
import type { Driver } from './csi-harness.ts';

if (reason !== undefined) console.warn(`skipped: drivers that lie ${reason}`);

async function attached(
  driver: Driver,
  detachMode: string,
  attributes: Readonly<Record<string, string>>,
): Promise<unknown> {
  await createVolume(driver);
  return publish(driver, 'a', detachMode, { attributes });
}

/** What came of it within a second. */
const soon = (call: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    call.then(
      () => 'answered',
      (error: unknown) => error,
    ),
    sleep(1000, 'no answer'),
  ]);

describe.skipIf(reason !== undefined)('a driver that lies', { timeout: 180_000 }, () => {
  test('answers that it could not, each time, and has detached', async () => {
    await using driver = newDriver();
    await stage(driver, 'a', await attached(driver, 'fenced', { detachAnswer: 'error' }));
    for (let time = 0; time < 2; time += 1) {
      await expect(unpublish(driver, 'a')).rejects.toMatchObject({ code: status.INTERNAL });
    }
    expect(await pathOf(driver, 1)).toMatchObject({ state: 'cut' });
  });

  test('answers that it did, and forgot: no other node gets the volume', async () => {
    await using driver = newDriver();
    await stage(driver, 'a', await attached(driver, 'fenced', { detachAnswer: 'forgets' }));
    await unpublish(driver, 'a');
    expect(await pathOf(driver, 1)).toMatchObject({ state: 'open' });
    await expect(publish(driver, 'b', 'fenced')).rejects.toThrow(/is attached to a/);
  });

  test('never answers, neither to a detach nor to staging', async () => {
    await using driver = newDriver();
    const lies = { detachAnswer: 'never', stageAnswer: 'never' };
    const context = await attached(driver, 'unfenced', lies);
    expect(await soon(stage(driver, 'a', context))).toBe('no answer');
    expect(await soon(unpublish(driver, 'a'))).toBe('no answer');
  });
});
