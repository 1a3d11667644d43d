import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockBatch } from './write-batch.ts';

test('a batch has one process at a time, whatever its folder is called by', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const alias = join(folder, 'alias');
  symlinkSync(folder, alias);
  const first = await lockBatch(folder);
  await expect(lockBatch(alias)).rejects.toMatchObject({
    code: 'BATCH_BUSY',
    message: expect.stringContaining(`process ${process.pid}`) as string,
  });
  await first.release();
  await (await lockBatch(alias)).release();
});
