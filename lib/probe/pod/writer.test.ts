/** What runs in the pods, as a process over a file: a writer that heeds SIGTERM or does not, and who reads it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { type PodJournal, readJournal } from '../judge/record.ts';
import { trialPlanOf } from '../plan.ts';
import { type ObjectTemplate, type PodRole, programOf } from '../objects.ts';
import { writerProgram } from '../pods.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-writer-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Some file systems in memory refuse it. */
const takesDirect = ((): boolean => {
  const path = join(folder, 'direct');
  writeFileSync(path, '');
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_DIRECT));
    return true;
  } catch {
    return false;
  }
})();

const plan = trialPlanOf({
  ...{ storageClass: 'c', nodes: ['a', 'b'], trials: 1, volumeMode: 'Filesystem' },
  ...{ size: '1Gi', horizonMs: 5000, image: 'node:24' },
});
const template: ObjectTemplate = { namespace: 'n', plan, program: writerProgram() };

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<NodeJS.Signals | null>;
  readonly journal: () => PodJournal;
}

function run(variant: 'kept' | 'force-deleted', role: PodRole): Running {
  const program = programOf(template, { name: `${variant}-1`, variant }, role);
  const PROBE = JSON.stringify({ ...program, path: join(folder, variant) });
  const args = ['--input-type=module', '--eval', template.program];
  const child = spawn(process.execPath, args, { env: { PROBE }, stdio: ['ignore', 'pipe', 2] });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.on('close', (_, signal) => resolve(signal));
  });
  return { child, ended, journal: () => readJournal(text.split('\n').slice(0, -1)) };
}

async function until(isSo: () => boolean): Promise<void> {
  for (const endMs = Date.now() + 30_000; !isSo(); await sleep(20)) {
    if (Date.now() > endMs) throw new Error('waited in vain');
  }
}

describe.skipIf(!takesDirect)('the writer', () => {
  test('ends when it is told to', async () => {
    const { child, ended, journal } = run('kept', 'writer');
    await until(() => journal().writes.length > 5);
    child.kill('SIGTERM');
    expect(await ended).toBeNull();
    expect(journal()).toMatchObject({ gaps: 0, termMs: expect.any(Number) });
  });

  test('of a pod that is deleted by force writes on, and the disk tells to when', async () => {
    const { child, ended, journal } = run('force-deleted', 'writer');
    await until(() => journal().writes.length > 5);
    child.kill('SIGTERM');
    await until(() => journal().termMs !== undefined);
    const then = journal().writes.length;
    await until(() => journal().writes.length > then + 5);
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    const { writes } = journal();
    const next = run('force-deleted', 'next');
    await until(() => next.journal().scans.length > 1);
    next.child.kill('SIGKILL');
    await next.ended;
    const [scan] = next.journal().scans;
    const last = scan?.ranges.at(-1)?.[1] ?? -1;
    // A write may stand on the disk that it did not live to tell of.
    expect([writes.length - 1, writes.length]).toContain(last);
    expect(scan?.ranges).toEqual([[0, last]]);
    expect(Math.abs((scan?.youngestMs ?? 0) - (writes.at(-1)?.begunMs ?? 0))).toBeLessThan(2000);
  });
});
