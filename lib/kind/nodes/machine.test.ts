/** A hanging engine: what was not healed is named with the command that does it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leaseAt } from '../ownership/lease.ts';
import { KindMachine } from './machine.ts';

const bin = mkdtempSync(join(tmpdir(), 'fd-bin-'));

const engineDoes = (script: string): void =>
  writeFileSync(join(bin, 'docker'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

beforeEach(() => {
  engineDoes('echo "the engine is gone" >&2; exit 1');
  vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`);
});
afterEach(() => void vi.unstubAllEnvs());
afterAll(() => rmSync(bin, { recursive: true, force: true }));

const self = { node: 'fd-x-worker', ip: '172.30.0.3', podCidr: '10.100.1.0/24' };
const machine = new KindMachine({
  server: 'mysqld',
  ...{ self, all: [self], controlPlane: 'fd-x-control-plane', network: 'fd-x', lab: 'fd-x-lab' },
  lease: leaseAt(0),
});

test('each way to give something back has its command', async () => {
  const ways = {
    thaw: 'docker unpause fd-x-worker',
    reconnect: 'docker network connect --ip 172.30.0.3 fd-x fd-x-worker',
    start: 'docker start fd-x-worker',
    rejoin: 'docker exec fd-x-worker iptables -w -F FORCEDETACH',
    resume: "docker exec fd-x-worker pkill -CONT -x $'kubelet|containerd'",
    unthrottle: 'docker update --cpu-quota -1 fd-x-worker',
  } as const;
  for (const [way, command] of Object.entries(ways)) {
    const healing = machine[way as keyof typeof ways]();
    await expect(healing, way).rejects.toMatchObject({ code: 'NODE_NOT_HEALED', command });
  }
});

test('a node that boots takes its own address first, not that of another one that is down', async () => {
  const asked = join(bin, 'asked');
  const state =
    '[{"State":{"Status":"exited"},"NetworkSettings":{"Networks":{"fd-x":{"IPAddress":""}}}}]';
  engineDoes(
    `case "$*" in *inspect*) echo '${state}';; *) echo "$*" >> ${asked}; [ "$1" != start ]; esac`,
  );
  await expect(machine.start()).rejects.toMatchObject({ code: 'NODE_NOT_HEALED' });
  expect(readFileSync(asked, 'utf8').trim().split('\n')).toEqual([
    expect.stringMatching(/^network disconnect .*fd-x fd-x-worker$/),
    'network connect --ip 172.30.0.3 fd-x fd-x-worker',
    'start fd-x-worker',
  ]);
});

test('what waits for a disk that never answers is answered with an error, by hand', async () => {
  const state = '[{"State":{"Status":"running"}}]';
  engineDoes(
    `case "$1 $2" in *inspect*) echo '${state}';; *) echo 'did not receive an exit event' >&2; exit 1; esac`,
  );
  await expect(machine.kill()).rejects.toMatchObject({
    code: 'NODE_WAITS',
    command: expect.stringMatching(
      /^docker exec fd-x-lab .*disk-tool\.ts fail-held --node fd-x-worker$/,
    ),
  });
});
