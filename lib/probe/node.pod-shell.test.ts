/** The privileged pod as a node's shell, in an API whose pods are processes here. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NodeContext, podShell } from './node.ts';
import { View } from './view.ts';
import { hostPod } from './objects.ts';
import type { UserClients } from '../core/kubernetes-client.ts';
import { testNodeShell } from '../../test/contract/node-shell-contract.ts';

const bin = mkdtempSync(join(tmpdir(), 'forcedetach-bin-'));
const over = new AbortController();
const made = new Map<string, { pod: V1Pod; child?: ChildProcess; said: string }>();

/** As far as the scripts ask for it: without timers of its own. */
const systemdRun = `#!/bin/sh
for word do
  case $word in --on-active=*s) after=\${word#*=} ;; esac
  file=$word
done
(sleep "\${after:-0s}"; exec /bin/sh "$file") >/dev/null 2>&1 &
`;

function create({ body }: { readonly body: V1Pod }): Promise<void> {
  const name = body.metadata?.name ?? '';
  if (made.has(name)) return Promise.reject(new Error(`${name} is there already`));
  const [command = '', ...words] = body.spec?.containers[0]?.args ?? [];
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  body.status = { phase: 'Running' };
  const entry = { pod: body, child, said: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (entry.said += chunk.toString()));
  }
  const end = (exitCode: number): void => {
    const containerStatuses = [{ state: { terminated: { exitCode } } }];
    const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
    body.status = { phase, containerStatuses } as unknown as V1PodStatus;
  };
  child.once('error', () => undefined);
  // What is not there is negative; nsenter says 127.
  child.once('close', (code) => end(code !== null && code < 0 ? 127 : (code ?? 137)));
  made.set(name, entry);
  return Promise.resolve();
}

const nothing = () => Promise.resolve({ items: [] });
const clients = {
  context: 'k',
  core: {
    createNamespacedPod: create,
    readNamespacedPodLog: ({ name }: { name: string }) => Promise.resolve(made.get(name)?.said),
    listNamespacedPod: () => Promise.resolve({ items: [...made.values()].map(({ pod }) => pod) }),
    ...{ listNamespacedPersistentVolumeClaim: nothing, listNamespacedEvent: nothing },
  },
} as unknown as UserClients;
const context: NodeContext = {
  ...{ clients, namespace: 'probe', signal: over.signal },
  view: new View(clients, 'probe', over.signal),
  plan: { nodes: ['a', 'b'], image: 'i' },
};

let looking: Promise<void>;
beforeAll(() => {
  writeFileSync(join(bin, 'systemd-run'), systemdRun, { mode: 0o755 });
  looking = context.view.run();
});
afterAll(async () => {
  over.abort();
  await looking;
  for (const { child } of made.values()) child?.kill('SIGKILL');
  rmSync(bin, { recursive: true });
});

describe('a privileged pod', () => {
  const shell = podShell(context, 'contract');
  testNodeShell({ has: ['arm'], now: () => shell });
});

test('each command is a pod of its own, and the first one has the bare name', async () => {
  const shell = podShell(context, 'check');
  expect(shell.node).toBe('a');
  await shell.run(['true']);
  await shell.run(['true']);
  const where = { namespace: 'probe', node: 'a', image: 'i' };
  expect(made.get('check')?.pod).toMatchObject(hostPod(where, 'check', ['true']));
  expect(made.get('check-2')?.pod).toMatchObject(hostPod(where, 'check-2', ['true']));
});

test('what is sent is not waited for, and may be asked for its end', async () => {
  const shell = podShell(context, 'slow');
  const sent = await shell.arm({
    ...{ run: 'r', folder: '/tmp', before: 'sleep 0.5', units: [], proof: 'echo so' },
  });
  expect(made.get('slow')?.pod.status?.phase).toBe('Running');
  expect(await sent.ended()).toEqual({ exitCode: 0, stdout: 'so', stderr: '' });
});

test.each<[string, V1PodStatus]>([
  ['never began', { phase: 'Failed', reason: 'Evicted' }],
  [
    'had ended well',
    {
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
    } as unknown as V1PodStatus,
  ],
])('a pod that failed is no success where its command %s', async (what, status) => {
  const name = what.replaceAll(' ', '-');
  const sending = podShell(context, name).run(['sleep', '0.1']);
  made.set(name, { pod: { metadata: { name }, status }, said: 'so far' });
  expect(await sending).toEqual({ exitCode: -1, stdout: 'so far', stderr: '' });
});
