import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killAll } from './node-life.ts';

test('ends the processes of that name and no others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-fence-'));
  const name = `fd${process.pid}x`;
  copyFileSync('/bin/sleep', join(folder, name));
  const meant = spawn(join(folder, name), ['60']);
  const other = spawn('/bin/sleep', ['60']);
  try {
    await Promise.all([once(meant, 'spawn'), once(other, 'spawn')]);
    const ended = once(meant, 'exit');
    expect(await killAll(name)).toEqual([meant.pid]);
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(await killAll(name)).toEqual([]);
    expect(other.exitCode).toBeNull();
  } finally {
    meant.kill();
    other.kill();
    rmSync(folder, { recursive: true });
  }
});
