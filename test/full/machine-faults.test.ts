/**
 * Faults of the harness's own machine, on an engine of the test's own: no run that lacks evidence is
 * green, and the next start leaves nothing of it. How runs end at named points: ended-at.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { exitCodeOf, verdictSchema } from '../../lib/judge/verdict/verdict.ts';
import { ensureKind } from '../../lib/kind/images/ensure.ts';
import {
  expectNotGreen,
  busyTimeoutMs,
  firstTimeoutMs,
  timeoutMs,
  watching,
} from '../ended/ended-run.ts';
import { startExperiment, type Place } from '../cluster/experiment.ts';
import { smallFolder } from '../ended/small-folder.ts';
import { nextStartLeavesNothing, runFlags, startOn } from './on-own-machine.ts';
import { ownMachine, type OwnMachine } from './own-machine.ts';

let own: OwnMachine;
beforeAll(async () => (own = await ownMachine()), firstTimeoutMs);
afterAll(() => own[Symbol.asyncDispose](), timeoutMs);

const short = [...runFlags, '--remedy', 'none', '--horizon', '5s', '--converge', '10s'];

test('the engine is restarted in the watch', { timeout: busyTimeoutMs }, async () => {
  const run = startOn(own, 'network-partition', short);
  await run.printed(watching);
  await own.restart();
  expectNotGreen(await run.done);
  await nextStartLeavesNothing(own);
});

test('the lab’s container is killed in the watch', { timeout: busyTimeoutMs }, async () => {
  const run = startOn(own, 'network-partition', short);
  await run.printed(watching);
  await own.docker('kill', 'fd-own-lab');
  expectNotGreen(await run.done);
  await nextStartLeavesNothing(own);
});

test('the disk is full in the middle of the report', { timeout: busyTimeoutMs }, async () => {
  await using small = await smallFolder();
  const folder = join(small.path, 'run');
  const flags = [...runFlags, '--remedy', 'none', '--horizon', '5s', '--converge', '30s'];
  const run = startOn(own, 'network-partition', flags, { folder });
  await run.printed('— verdict and report');
  // By then all but the history's last lines is written, and the report is not begun.
  const lab = ['ps', '--all', '--quiet', '--filter', 'name=fd-own-lab'];
  await expect.poll(() => own.docker(...lab), { timeout: busyTimeoutMs, interval: 200 }).toBe('');
  small.leave(200 * 1024);
  const { exitCode, stderr } = await run.done;
  expect(exitCode, stderr).toBe(4);
  expect(stderr).toContain('ENOSPC');
  expect(readdirSync(folder)).toEqual(['history']);
  small.free();
  const rebuilt = await $({
    quiet: true,
    nothrow: true,
  })`node_modules/.bin/zx experiments/report.mjs ${folder}`;
  const verdict = verdictSchema.parse(
    JSON.parse(readFileSync(join(folder, 'verdict.json'), 'utf8')),
  );
  expect(rebuilt.exitCode, rebuilt.stderr).toBe(exitCodeOf(verdict));
  expect(readdirSync(folder)).toContain('report.html');
  await nextStartLeavesNothing(own);
});

test('two users: neither takes the other’s cluster, nor what it left', {
  timeout: busyTimeoutMs,
}, async () => {
  const first = startOn(own, 'network-partition');
  await first.printed('creating the cluster');
  const refused = await startExperiment('network-partition', runFlags, await secondUser(own)).done;
  expect(refused.exitCode, refused.stderr).toBe(4);
  expect(refused.stderr).toContain('CLUSTER_BUSY');
  await first.printed('— steady state');
  first.signal('SIGKILL');
  await first.done;
  const others = [...runFlags, '--cluster-name', 'second'];
  const beside = startExperiment('network-partition', others, await secondUser(own));
  await beside.printed('— steady state');
  expect((await own.left())['containers']?.join()).toContain('fd-own-worker2');
  beside.signal('SIGINT');
  const { exitCode, stderr } = await beside.done;
  expect([3, 4], stderr).toContain(exitCode);
  await nextStartLeavesNothing(own);
});

test('a checkout, a state folder and a run’s folder with blanks, an apostrophe and other letters', {
  timeout: busyTimeoutMs,
}, async () => {
  const root = mkdtempSync(join(tmpdir(), 'fd-path-'));
  try {
    const cwd = join(root, "l’été d'une « Größe » 測試");
    mkdirSync(cwd);
    await $({
      quiet: true,
    })`cp -al node_modules lib experiments manifests docs package.json ${cwd}`;
    const folder = join(cwd, "un rapport d'ici", 'run');
    const env = { XDG_STATE_HOME: join(own.state, "s'é 測") };
    const flags = [...runFlags, '--disk', 'fenced', '--overlap', '5s'];
    const { exitCode, verdict, stderr } = await startOn(own, 'network-partition', flags, {
      cwd,
      folder,
      env,
    }).done;
    expect({ exitCode, verdict: verdict?.verdict }, stderr).toEqual({
      exitCode: 0,
      verdict: 'safe',
    });
    expect(readdirSync(folder)).toContain('report.html');
    expect(await own.left()).toEqual({});
  } finally {
    rmSync(root, { recursive: true });
  }
});

/** The last, since it leaves the engine in doubt. */
test('the engine’s disk is full in the watch', { timeout: busyTimeoutMs }, async () => {
  const run = startOn(own, 'network-partition', short);
  await run.printed(watching);
  await own.fill();
  const ended = await run.done.finally(() => own.free());
  expectNotGreen(ended);
  await nextStartLeavesNothing(own);
});

/** Of the engine's group, with folders of its own; the program kind is where both may read it. */
async function secondUser({ place, state }: OwnMachine): Promise<Place> {
  const uid = 64_999;
  const home = join(dirname(state), 'second');
  mkdirSync(join(home, 'bin'), { recursive: true });
  copyFileSync(await ensureKind(), join(home, 'bin', 'kind'));
  await $({ quiet: true })`chown -R ${uid} ${home}`;
  const group = (
    await $({
      quiet: true,
    })`stat --format %g ${place.env?.['DOCKER_HOST']?.replace('unix://', '') ?? ''}`
  ).stdout.trim();
  const as = [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${uid}`,
    `--groups=${group}`,
    '--inh-caps=-all',
  ];
  const env = {
    ...place.env,
    ...{ HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_CACHE_HOME: join(home, 'cache') },
    PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
  };
  return { env, enter: [...(place.enter ?? []), ...as], folder: join(home, randomUUID(), 'run') };
}
