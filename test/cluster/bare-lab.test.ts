/** The machine of a bare host: what a killed one left is taken away, what is not ours stays. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { exec, remove } from '../../lib/engine/commands.ts';
import { run, tryRun } from '../../lib/engine/run.ts';
import { reap } from '../../lib/cluster/kind/ownership/reap.ts';
import { leasedLoops } from '../../lib/cluster/kind/disk/loops.ts';
import { ensureImages } from '../../lib/images/ensure.ts';
import {
  containerFor,
  missingForBareHost,
  removeHost,
  shared,
  startContainer,
} from './bare-lab.ts';
import { kubernetesDefault } from '../../lib/kubernetes-versions.ts';

const reason = await missingForBareHost();
if (reason !== undefined) console.warn(`skipped: the machine of a bare host ${reason}`);

const loops = { a: 5140, b: 5141, audit: 5142 };
const attached = (): Promise<number[]> => leasedLoops({ loops: { first: loops.a, count: 3 } });

describe.skipIf(reason !== undefined)('the machine of a bare host', () => {
  let tools = '';
  afterEach(async () => {
    await tryRun(['losetup', '--detach', `/dev/loop${loops.b}`]);
    await removeHost(loops, tools);
  });

  test('the next start takes a killed one’s container, mount, devices and folder', async () => {
    const onProgress = (line: string): void => console.log(`  ${line}`);
    ({ tools } = await ensureImages({ source: 'auto', kubernetes: kubernetesDefault, onProgress }));
    const left = await startContainer(loops, tools);
    const script = `truncate -s 64M ${shared}/left.img; mke2fs -q -F ${shared}/left.img
      losetup /dev/loop${loops.a} ${shared}/left.img; mount /dev/loop${loops.a} /mnt`;
    await run(exec(containerFor(loops), 'sh', '-euc', script));
    expect(await attached()).toEqual([loops.a]);
    // Its end was cut short, too: the mount stays in nobody's namespace, the device does.
    await run(remove(containerFor(loops)));
    await run(['losetup', `/dev/loop${loops.b}`, join(left, 'left.img')]);

    const next = await startContainer(loops, tools);

    expect(await attached()).toEqual([]);
    expect([existsSync(join(left, 'left.img')), existsSync(next)]).toEqual([false, true]);
  });

  test('clean takes what a process left that was killed, and nothing of one that lives', async () => {
    const lab = `import { startContainer, shared, containerFor } from '${import.meta.dirname}/bare-lab.ts';
      import { run } from '${import.meta.dirname}/../../lib/engine/run.ts';
      import { exec } from '${import.meta.dirname}/../../lib/engine/commands.ts';
      const loops = ${JSON.stringify(loops)};
      console.log(await startContainer(loops, '${tools}'));
      await run(exec(containerFor(loops), 'sh', '-euc', 'truncate -s 64M ${shared}/left.img; losetup /dev/loop${loops.a} ${shared}/left.img'));
      console.log('ready');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', lab]);
    let said = '';
    for await (const chunk of child.stdout) if ((said += String(chunk)).includes('ready')) break;
    const [folder = ''] = said.split('\n');
    expect((await reap()).left).toContainEqual({
      ...{ cluster: `the lab in ${folder}`, why: 'its owner is alive' },
    });
    expect(await attached()).toEqual([loops.a]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;

    const { removed, resisted } = await reap();

    expect({ removed, resisted }).toEqual({
      removed: expect.arrayContaining([`the lab in ${folder}`]) as string[],
      resisted: [],
    });
    expect([await attached(), existsSync(folder)]).toEqual([[], false]);
    expect((await tryRun(exec(containerFor(loops), 'true'))).exitCode).not.toBe(0);
  });

  test('a device of somebody else is left alone, and told', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'fd-elsewhere-'));
    onTestFinished(() => rmSync(elsewhere, { recursive: true }));
    const file = join(elsewhere, 'theirs.img');
    await run(['truncate', '-s', '1M', file]);
    await run(['losetup', `/dev/loop${loops.b}`, file]);

    await expect(startContainer(loops, tools)).rejects.toMatchObject({
      code: 'LOOPS_BUSY',
      message: expect.stringContaining('is not ours'),
    });
    expect(await attached()).toEqual([loops.b]);
  });
});
