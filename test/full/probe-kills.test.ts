/**
 * A cut on a stranger's cluster that loses its probe, its pods or its network at each step: the node heals
 * itself by the time that was said, `--clean` takes the rest away, and the host what is on the host.
 */
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { isReady } from '../../lib/core/kubernetes-client.ts';
import { latestHealMs, tidyLaterMs } from '../../lib/probe/node.ts';
import type { CutWay } from '../../lib/probe/plan.ts';
import { outOfServiceKey } from '../../lib/core/kubernetes.ts';
import {
  applyText,
  limitedAccount,
  probeFolder,
  removeText,
  runProbe,
  settled,
  startProbe,
  strangersLab,
  type Lab,
  type RunningProbe,
} from './probe-lab.ts';
import { changedSince, stateOf, type ClusterState } from './probe-state.ts';

let lab: Lab;
let node = '';
let before: ClusterState;
beforeAll(async () => {
  lab = await strangersLab('killed');
  [node] = lab.workers;
  before = await stateOf(lab, true);
});
afterAll(() => lab[Symbol.asyncDispose]());

const healAfterMs = 60_000;

const cutWords = (): string[] => ['--cut', node, '--remedy', 'out-of-service'];

interface CutAsked {
  readonly kubeconfig?: string;
  readonly way?: CutWay;
  readonly more?: readonly string[];
}

function startCut(asked: CutAsked = {}): RunningProbe {
  const { kubeconfig = lab.kubeconfig, way = 'network', more = [] } = asked;
  const out = join(probeFolder(), 'cut.json');
  return startProbe(kubeconfig, [
    ...['-s', 'amber', '--image', lab.image, '--nodes', lab.workers.join(',')],
    ...[...cutWords(), '--yes', node, '--cut-by', way, '--volume-mode', 'Filesystem', ...more],
    ...['--heal-after', `${healAfterMs / 1000}s`, '--out', out],
  ]);
}

const namespaceOf = (probe: RunningProbe): string =>
  /namespace (forcedetach-probe-\w+)/.exec(probe.output())?.[1] ?? '';

/** Until this pod of the probe runs, or has ended. */
async function pod(probe: RunningProbe, name: string): Promise<void> {
  await probe.said(/namespace forcedetach-probe/);
  const namespace = namespaceOf(probe);
  for (const endMs = Date.now() + 300_000; Date.now() < endMs; await sleep(100)) {
    const found = await lab.clients.core
      .readNamespacedPod({ name, namespace })
      .catch(() => undefined);
    if (/Running|Succeeded/.test(found?.status?.phase ?? '')) return;
  }
  throw new Error(`the pod ${name} never ran:\n${probe.output()}`);
}

interface Step {
  readonly step: string;
  readonly reached: (probe: RunningProbe) => Promise<void>;
  /** The probe then owes its user a proof that the node is healed. */
  readonly owesProof?: true;
}

/** A probe that stopped its node's network, or its kubelet, and saw it go. */
const cutStep: Step = {
  ...{ step: 'cut', reached: (probe) => probe.said(/no longer reaches \S+/), owesProof: true },
};

/** In their order. */
const steps: readonly Step[] = [
  { step: 'before it is armed', reached: (probe) => pod(probe, 'cut-1-a') },
  { step: 'in the rehearsal', reached: (probe) => pod(probe, 'rehearse-cut') },
  { step: 'armed', reached: (probe) => probe.said(/has armed its heal/), owesProof: true },
  cutStep,
  { step: 'tainted', reached: (probe) => probe.said(/out-of-service: done/), owesProof: true },
  { step: 'with a second mount', reached: (probe) => pod(probe, 'cut-1-b'), owesProof: true },
  { step: 'healed', reached: (probe) => probe.said(/reaches \S+ again/), owesProof: true },
  { step: 'tidying', reached: (probe) => probe.said(/removing everything that the probe made/) },
];

const onNode = async (script: string): Promise<string> =>
  (await $({ quiet: true, nothrow: true })`docker exec ${node} sh -c ${script}`).stdout.trim();

/** Of any run: no table, no heal to come, a kubelet, Ready. */
async function isHealed(): Promise<boolean> {
  const here = await onNode(
    `nft list tables | grep forcedetach; systemctl list-units --no-legend --plain 'forcedetach-probe-*-heal*' 'forcedetach-probe-*-belt*' 'forcedetach-probe-*-cut*'; systemctl is-active kubelet`,
  );
  const { status } = await lab.clients.core.readNode({ name: node });
  return here === 'active' && isReady(status);
}

/** A kubelet that is back has to say so, on a machine that is busy. */
const readyLaterMs = 30_000;

/** By the time that was said, from now on at the latest. */
async function healsInTime(sinceMs: number): Promise<number> {
  const endMs = sinceMs + latestHealMs(healAfterMs) + readyLaterMs;
  while (!(await isHealed())) {
    expect(Date.now(), `${node} is not healed in time`).toBeLessThan(endMs);
    await sleep(1000);
  }
  return Date.now() - sinceMs;
}

/** On the host until its own third timer comes. */
const untidied = /file \/(run|var\/tmp)\/forcedetach-probe-|unit forcedetach-probe-\w+-tidy/;
let lastMs = 0;

/** All is as it was but for what the host tidies itself. */
async function cleansUp(probe: RunningProbe): Promise<void> {
  const namespace = namespaceOf(probe);
  const cleaned = await runProbe(lab.kubeconfig, ['--clean']);
  expect(cleaned.code, cleaned.output).toBe(0);
  const { items } = await lab.clients.core.listNamespace();
  expect(items.map(({ metadata }) => metadata?.name)).not.toContain(namespace);
  expect((await changedSince(lab, before, { wasAway: true, except: untidied })).join('\n')).toBe(
    '',
  );
}

const note = (step: string, what: string, ms: number): void =>
  console.log(`${what} at \`${step}\`: healed ${(ms / 1000).toFixed(1)} s after it`);

async function killedAt(step: string, probe: RunningProbe): Promise<void> {
  probe.kill('SIGKILL');
  lastMs = Date.now();
  await probe.ended;
  note(step, 'kill -9', await healsInTime(lastMs));
  await cleansUp(probe);
}

test.each(steps)('the probe is killed: $step', async ({ step, reached }) => {
  const probe = startCut();
  await reached(probe);
  await killedAt(step, probe);
});

/** The values of its taint out-of-service. */
async function marks(): Promise<readonly (string | undefined)[]> {
  const { spec } = await lab.clients.core.readNode({ name: node });
  return (spec?.taints ?? [])
    .filter(({ key }) => key === outOfServiceKey)
    .map(({ value }) => value);
}

/** With just the rights that are printed for it, which suffice to clean up, too. */
test('the probe is killed in a given namespace: its mark goes from the node with the rest', async () => {
  const place = 'storage-team';
  const given = ['--namespace', place];
  const { kubeconfig, username } = await limitedAccount(lab);
  const asked = ['--rbac', ...cutWords(), ...given, '--account', username];
  const { output: rights } = await runProbe(lab.kubeconfig, asked);
  await applyText(lab.clients, rights);
  await settled(lab, place);
  const granted = await stateOf(lab, true);

  const probe = startCut({ kubeconfig, more: given });
  await probe.said(/out-of-service: done/);
  probe.kill('SIGKILL');
  lastMs = Date.now();
  await probe.ended;
  note('tainted, in a given namespace', 'kill -9', await healsInTime(lastMs));
  expect(await marks()).toEqual([place]);
  const cleaned = await runProbe(kubeconfig, ['--clean', ...given]);
  expect(cleaned.code, cleaned.output).toBe(0);
  expect(await marks()).toEqual([]);
  const changed = await changedSince(lab, granted, { wasAway: true, except: untidied });
  expect(changed.join('\n')).toBe('');

  await removeText(lab.clients, rights);
  const [, , namespace = '', name = ''] = username.split(':');
  await lab.clients.core.deleteNamespacedServiceAccount({ namespace, name });
});

test('the probe is killed while the kubelet is stopped', async () => {
  const probe = startCut({ way: 'kubelet' });
  await cutStep.reached(probe);
  expect(await onNode('systemctl is-active kubelet')).not.toBe('active');
  await killedAt('cut by kubelet', probe);
});

test.each(steps)('its pods are deleted: $step', async ({ step, reached }) => {
  const probe = startCut();
  await reached(probe);
  lastMs = Date.now();
  const namespace = namespaceOf(probe);
  await lab.clients.core.deleteCollectionNamespacedPod({ namespace, gracePeriodSeconds: 0 });
  note(step, 'its pods deleted', await healsInTime(lastMs));
  // It gives up, or goes on without them: in any case it takes away what it made.
  const { output } = await probe.ended;
  expect(output).toContain('removing everything that the probe made');
  await cleansUp(probe);
});

test.each(steps)('its network goes: $step', async ({ step, reached, owesProof }) => {
  await using way = await silentWay(lab.kubeconfig);
  const probe = startCut({ kubeconfig: way.kubeconfig });
  await reached(probe);
  lastMs = Date.now();
  way.silence();
  note(step, 'its network gone', await healsInTime(lastMs));
  const { code, output } = await probe.ended;
  expect(code, output).toBe(4);
  if (owesProof) {
    expect(output).toContain('CUT_NOT_HEALED');
    expect(output).toContain('nft delete table inet forcedetach_probe_');
  }
  await cleansUp(probe);
});

test('what killed probes left on the host goes by the host’s own timer', async () => {
  const probe = startCut();
  await cutStep.reached(probe);
  await killedAt(cutStep.step, probe);
  const left = (): Promise<string> =>
    onNode(
      `ls -d /run/forcedetach-probe-* /var/tmp/forcedetach-probe-*; systemctl list-units --no-legend --plain 'forcedetach-probe-*'`,
    );
  expect(await left()).not.toBe('');
  const endMs = lastMs + latestHealMs(healAfterMs) + tidyLaterMs + 60_000;
  while ((await left()) !== '') {
    expect(Date.now()).toBeLessThan(endMs);
    await sleep(5000);
  }
  expect((await changedSince(lab, before, { wasAway: true })).join('\n')).toBe('');
});

interface SilentWay extends AsyncDisposable {
  readonly kubeconfig: string;
  /** From now on nothing comes through, and nobody says so. */
  readonly silence: () => void;
}

async function silentWay(kubeconfig: string): Promise<SilentWay> {
  const { server: target = '' } = lab.clients.config.getCurrentCluster() ?? {};
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server: Server = createServer((near) => {
    sockets.add(near);
    near.on('error', () => near.destroy());
    if (isSilent) return;
    const far = createConnection({ host: hostname, port: Number(port) });
    sockets.add(far);
    far.on('error', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const here = server.address();
  const url = `https://127.0.0.1:${typeof here === 'object' ? here?.port : ''}`;
  const path = join(probeFolder(), 'kubeconfig');
  writeFileSync(path, readFileSync(kubeconfig, 'utf8').replaceAll(target, url));
  return {
    kubeconfig: path,
    silence: () => {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
