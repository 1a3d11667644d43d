/**
 * From one run, every crash, without Kubernetes: what was promised is there after any loss of power
 * with stock settings on an honest disk, and what was not promised is seen to be gone.
 */
import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { $ } from '../../lib/kind/engine/shell.ts';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import type { ImageSet } from '../../lib/kind/images/image-plan.ts';
import { missingForBareHost } from './bare-lab.ts';
import { makeCrashRun, type CrashRunOptions } from './crash-run.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';

const reason = await missingForBareHost();
if (reason !== undefined) console.warn(`skipped: crash states ${reason}`);

const answerSchema = z.object({
  verdict: z.string(),
  asExpected: z.boolean(),
  moments: z.object({ anywhere: z.number() }),
  policies: z.array(
    z.object({ policy: z.string(), states: z.number(), lost: z.number(), corrupt: z.number() }),
  ),
  states: z.array(
    z.object({
      number: z.number(),
      acked: z.number(),
      lost: z.number(),
      verdict: z.string(),
      findings: z.array(z.object({ code: z.string(), evidence: z.array(z.string()) })),
    }),
  ),
});
type Answer = z.output<typeof answerSchema> & { readonly exitCode: number | null };

/** The transaction system's page, and the first of a table: docs/explanation/crash-states.md. */
const readBeforeCopies =
  /page id: space=0, page number=5\]|Checksum mismatch in datafile: \.\/\w+\/\w+\.ibd/;

const project = join(import.meta.dirname, '../..');
const script = ['bin/forcedetach.mjs', 'crash-states'];
const label = 'label=forcedetach.crash-states=true';

describe.skipIf(reason !== undefined)('the crash states of a run', { timeout: 600_000 }, () => {
  let images: ImageSet;
  let parent: string;
  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), 'fd-crash-runs-'));
    images = await ensureImages({
      ...{ source: 'auto', kubernetes: kubernetesDefault },
      onProgress: (line) => console.log(`  ${line}`),
    });
  });
  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  async function newRun(
    name: string,
    options: Pick<CrashRunOptions, 'scenario' | 'mysqldFlags'>,
  ): Promise<string> {
    const folder = join(parent, name);
    await makeCrashRun({ images, folder, writeMs: 5_000, seed: name, ...options });
    return folder;
  }

  async function explored(folder: string, ...flags: string[]): Promise<Answer> {
    const run = $({ cwd: project, nothrow: true, quiet: true });
    const { stdout, stderr, exitCode } =
      await run`${process.execPath} ${script} ${folder} --seed test --json ${flags}`;
    console.log(stderr.replaceAll(/^/gm, '  '));
    return { ...answerSchema.parse(JSON.parse(stdout)), exitCode };
  }

  test('stock settings on an honest disk lose nothing, whatever is kept of the rest', async () => {
    const folder = await newRun('stock', { scenario: {} });
    const policies = ['--policy', 'keeps,drops,reorders'];
    const answer = await explored(folder, '--states', '30', ...policies);
    expect(answer).toMatchObject({ verdict: 'safe', asExpected: true, exitCode: 0 });
    expect(answer.states.length).toBe(30);
    expect(answer.moments.anywhere).toBeGreaterThan(1000);
    expect(Math.max(...answer.states.map(({ acked }) => acked))).toBeGreaterThan(100);
    expect(existsSync(join(folder, 'crash-states.json'))).toBe(true);

    const [again] = (await explored(folder, '--states', '30', ...policies, '--only', '3')).states;
    expect(again).toEqual(answer.states[2]);
    // ext4's magic number (ext4_super_block.s_magic), behind the first 1024 bytes.
    const head = Buffer.alloc(2048);
    const image = openSync(join(folder, 'crash-state-3.img'), 'r');
    readSync(image, head);
    closeSync(image);
    expect(head.readUInt16LE(1024 + 0x38)).toBe(0xef53);
  });

  test('trx_commit=2 loses commits', async () => {
    const folder = await newRun('relaxed', { scenario: { database: { trxCommit: 2 } } });
    const answer = await explored(folder, '--states', '12', '--policy', 'keeps,drops');
    expect(answer).toMatchObject({ verdict: 'lost', asExpected: true, exitCode: 0 });
    const lost = answer.states.filter(({ verdict }) => verdict === 'lost');
    expect(lost.length).toBeGreaterThan(0);
  });

  test('a disk that ignores flushes loses commits, unless its power stays', async () => {
    const folder = await newRun('ignored', { scenario: { disk: { flushes: 'ignored' } } });
    const answer = await explored(folder, '--states', '8', '--policy', 'keeps,drops');
    expect(answer).toMatchObject({ asExpected: true, exitCode: 0 });
    expect(['lost', 'corrupt']).toContain(answer.verdict);
    expect(answer.policies).toMatchObject([
      { policy: 'keeps', states: 4, lost: 0, corrupt: 0 },
      { policy: 'drops', states: 4 },
    ]);
    const [, drops] = answer.policies;
    expect((drops?.lost ?? 0) + (drops?.corrupt ?? 0)).toBeGreaterThan(0);
  });

  test('where its doublewrite copy was flushed before, a torn page is mended, but for two', async () => {
    const mysqldFlags = ['--innodb-flush-method=fsync'];
    const folder = await newRun('flushed', { scenario: {}, mysqldFlags });
    const answer = await explored(folder, '--states', '16', '--policy', 'tears');
    expect(answer).toMatchObject({ asExpected: true, exitCode: 0 });
    expect(answer.states.length).toBe(16);
    for (const { findings } of answer.states.filter(({ verdict }) => verdict !== 'safe')) {
      const [first] = findings.find(({ code }) => code === 'ERROR_LOG_DAMAGE')?.evidence ?? [];
      expect(first).toMatch(readBeforeCopies);
    }
  });

  test('Ctrl-C leaves no container and no loop device', async () => {
    const folder = join(parent, 'stock');
    const run = $({ cwd: project, nothrow: true, quiet: true });
    const exploring = run`exec ${process.execPath} ${script} ${folder} --states 60`;
    const containers = async (): Promise<string> =>
      (await run`docker ps --quiet --filter ${label}`).stdout.trim();
    const loops = async (): Promise<string> =>
      (await run`losetup --noheadings --list --output NAME`).stdout
        .split('\n')
        .filter((name) => /loop6[1-3]\d\d$/.test(name.trim()))
        .join();
    await expect.poll(loops, { timeout: 120_000, interval: 50 }).not.toBe('');
    await exploring.kill('SIGINT');
    expect((await exploring).exitCode).toBe(4);
    await expect.poll(containers, { timeout: 60_000 }).toBe('');
    expect(await loops()).toBe('');
  });
});
