/** A program for credentials that never ends holds neither the call nor the process after its time. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test, vi } from 'vitest';
import { writeKubeconfig } from '../../test/support/user-kubeconfig.ts';
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

test('a script that sleeps in a program of its own', async () => {
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
