/** Of the API's clients: how they end, and what they keep. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';
import { kubeClients } from './kubernetes-client.ts';
import { machineProcesses } from './owner.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-client-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The same for a probe and for a sweep on a user's cluster, which both ask through it. */
const asks = `
const { userClients } = await import(${JSON.stringify(join(import.meta.dirname, 'kubernetes-client.ts'))});
const { CoreV1Api } = await import('@kubernetes/client-node');
const { config } = await userClients('one', process.argv[1], 500);
const beganMs = performance.now();
await config.makeApiClient(CoreV1Api).listNode().catch(({ code, message }) => console.log(code, message));
process.once('exit', () => console.log(performance.now() - beganMs < 40_000 ? 'in time' : 'late'));
`;

test('calls of a server take a connection that is there, until the credentials change', async () => {
  let connections = 0;
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end('{"kind":"NodeList","items":[]}');
  }).on('connection', () => (connections += 1));
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { config, core } = await kubeClients(writeKubeconfig(folder, `http://127.0.0.1:${port}`));
  for (let call = 0; call < 10; call += 1) await core.listNode();
  // The next call may come before the connection of the last is free.
  expect(connections).toBeLessThanOrEqual(2);
  const before = connections;
  config.users = [{ name: 'u', certData: 'QQ==', keyData: 'QQ==' }];
  await core.listNode();
  expect(connections).toBe(before + 1);
});

test('a program for credentials that sleeps in a program of its own', async () => {
  const script = join(folder, 'credentials');
  const pidFile = join(folder, 'pid');
  writeFileSync(script, `#!/bin/sh\necho $$ > ${pidFile}\nsleep 60\n`, { mode: 0o755 });
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = { apiVersion, command: script, interactiveMode: 'Never' };
  const kubeconfig = writeKubeconfig(folder, 'http://127.0.0.1:1', { exec });
  const argv = ['--input-type=module', '--eval', asks, kubeconfig];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  const why = 'the credential program of the kubeconfig gave no answer in 0.5 s';
  expect(stdout.trim().split('\n')).toEqual([`CREDENTIALS_SILENT ${why}`, 'in time']);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await vi.waitFor(() => expect(machineProcesses.startTicks(pid)).toBeUndefined(), 10_000);
});
