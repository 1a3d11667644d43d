/** A stranger's cluster for tests of the probe: accounts with just some rights, and probes as processes. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { $ } from '../../lib/kind/engine/shell.ts';
import { apply, kubeClients, type KubeClients } from '../../lib/core/kubernetes-client.ts';

const quiet = $({ quiet: true });

export interface Lab extends AsyncDisposable {
  readonly name: string;
  readonly kubeconfig: string;
  readonly clients: KubeClients;
  /** An image that every node has, with Node in it. */
  readonly image: string;
  /** Numbers of its driver's loop devices: `first-last`. */
  readonly loops: string;
  /** Not the one of the control plane. */
  readonly workers: readonly [string, string];
}

/**
 * Where FORCEDETACH_STRANGER names one that is there it is taken, and stays; else one is made, with
 * shortened timers or stock ones, and removed.
 */
export async function strangersLab(name: string, pace: 'short' | 'stock' = 'short'): Promise<Lab> {
  const there = process.env['FORCEDETACH_STRANGER'];
  const used = there ?? name;
  const script = ['scripts/stranger.ts'];
  const kubeconfig =
    there === undefined
      ? (await quiet`node ${script} up ${used} ${pace}`).stdout.trim()
      : (process.env['FORCEDETACH_STRANGER_KUBECONFIG'] ?? '');
  const clients = await kubeClients(kubeconfig);
  const namespace = 'kube-system';
  // The controller's Deployment, whose driver knows its loop devices.
  const { items } = await clients.apps.listNamespacedDeployment({ namespace });
  const containers = items.flatMap(({ spec }) => spec?.template.spec?.containers ?? []);
  const driver = containers.find(({ image }) => image?.includes('/driver:'));
  const loops = driver?.env?.find(({ name: variable }) => variable === 'FORCEDETACH_LOOPS');
  return {
    ...{ name: used, kubeconfig, clients, image: driver?.image ?? '', loops: loops?.value ?? '' },
    workers: [`${used}-worker2`, `${used}-worker`],
    [Symbol.asyncDispose]: async () => {
      if (there === undefined) await quiet`node ${script} down ${used}`;
    },
  };
}

export interface RunningProbe {
  readonly pid: number;
  readonly output: () => string;
  /** Resolves once this was printed; rejects where it ended without. */
  readonly said: (text: RegExp) => Promise<void>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
}

export const probeFolder = (): string => mkdtempSync(join(tmpdir(), 'forcedetach-probe-'));

export function startProbe(kubeconfig: string, args: readonly string[]): RunningProbe {
  const script = ['node_modules/zx/build/cli.js', 'experiments/probe.mjs'];
  const words = [...script, ...args, '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      for (const check of waiting) check();
    });
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
  const said = (text: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!text.test(output)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
      void ended.then(() => reject(new Error(`it ended without saying ${text}:\n${output}`)));
    });
  return {
    ...{ pid: child.pid ?? 0, output: () => output, said, ended },
    kill: (signal) => void child.kill(signal),
  };
}

export const runProbe = (kubeconfig: string, args: readonly string[]): RunningProbe['ended'] =>
  startProbe(kubeconfig, args).ended;

export const applyText = (clients: KubeClients, text: string): Promise<void> =>
  apply(
    clients,
    parseAllDocuments(text).map((each) => each.toJS() as KubernetesObject),
  );

/** Resolves once all of it is gone, of a namespace what is in it, too: the next test may make it anew. */
export async function removeText({ objects }: KubeClients, text: string): Promise<void> {
  const made = parseAllDocuments(text)
    .toReversed()
    .map((each) => each.toJS() as KubernetesObject & { metadata: { name: string } });
  const isGone = (each: (typeof made)[number]): Promise<boolean> =>
    objects.read(each).then(
      () => false,
      () => true,
    );
  for (const each of made) await objects.delete(each).catch(() => undefined);
  for (const each of made) {
    for (const endMs = Date.now() + 60_000; Date.now() < endMs; await sleep(200)) {
      if (await isGone(each)) break;
    }
  }
}

/** Kubernetes puts these into a new namespace by itself. */
export async function settled({ clients: { core } }: Lab, namespace: string): Promise<void> {
  for (const endMs = Date.now() + 60_000; Date.now() < endMs; await sleep(200)) {
    const accounts = await core.listNamespacedServiceAccount({ namespace });
    const maps = await core.listNamespacedConfigMap({ namespace });
    if (accounts.items.length > 0 && maps.items.length > 0) return;
  }
}

const account = 'forcedetach-tester';

/** A kubeconfig of an account in `default` that may do nothing yet, and its name as of `kubectl auth whoami`. */
export async function limitedAccount(
  lab: Lab,
): Promise<{ readonly kubeconfig: string; readonly username: string }> {
  const metadata = { name: account, namespace: 'default' };
  await apply(lab.clients, [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata }]);
  const request = { spec: { audiences: [], expirationSeconds: 7200 } };
  const made = await lab.clients.core.createNamespacedServiceAccountToken({
    ...{ name: account, namespace: 'default' },
    body: request,
  });
  const cluster = lab.clients.config.getCurrentCluster();
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'limited' },
    contexts: [{ name: 'limited', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      {
        name: 'c',
        cluster: {
          server: cluster?.server,
          'certificate-authority-data': cluster?.caData,
        },
      },
    ],
    users: [{ name: 'u', user: { token: made.status?.token } }],
  };
  const path = join(probeFolder(), 'kubeconfig');
  writeFileSync(path, JSON.stringify(config));
  return { kubeconfig: path, username: `system:serviceaccount:default:${account}` };
}

/** Text of a file, once somebody has written it whole. */
export async function whenWritten(path: string, withinMs: number): Promise<string> {
  for (const endMs = Date.now() + withinMs; Date.now() < endMs; await sleep(200)) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // Not yet.
    }
  }
  throw new Error(`nobody has written ${path} in ${withinMs / 1000} s`);
}
