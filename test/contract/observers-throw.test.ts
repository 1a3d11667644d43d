/** What an observer cannot bear is said in the history; it, the others and the run go on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { writeKubeconfig } from '../support/user-kubeconfig.ts';
import type { Clock } from '../../lib/core/time.ts';
import type { Recorder } from '../../lib/history/observers.ts';
import type { Cluster } from '../../lib/kind/cluster.ts';
import { kubeClients } from '../../lib/core/kubernetes-client.ts';
import type { OpenStream } from '../../lib/kind/engine/run.ts';
import { observeApi } from '../../lib/kind/observe/api.ts';
import { observeLogs } from '../../lib/kind/observe/logs.ts';
import { observeDisk, observeMachine } from '../../lib/kind/observe/cluster.ts';
import { mysql } from '../../lib/mysql/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-throws-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names of what was observed, and of the observers that failed. */
let said: string[] = [];
const recorder: Recorder = {
  record: (record) => {
    if (record.type === 'error') said.push(`failed: ${record.where}`);
    else said.push('name' in record ? record.name : record.type);
  },
  subscribe: () => () => undefined,
};
const uncaught: unknown[] = [];
const catchIt = (error: unknown): void => void uncaught.push(error);
beforeEach(() => {
  said = [];
  process.on('uncaughtException', catchIt);
});
afterEach(() => {
  process.off('uncaughtException', catchIt);
  expect(uncaught.splice(0)).toEqual([]);
});

/** Streams that say nothing by themselves, and how each is told a line. */
function streams(): { open: OpenStream; hears: ((line: string) => void)[] } {
  const hears: ((line: string) => void)[] = [];
  const open: OpenStream = (_, onLine) => {
    // As a stream does: from the event loop, where nobody catches.
    hears.push((line) => setImmediate(() => onLine(line)));
    const left = Promise.withResolvers<void>();
    return Promise.resolve({
      closed: left.promise,
      write: () => undefined,
      [Symbol.asyncDispose]: () => Promise.resolve(left.resolve()),
    });
  };
  return { open, hears };
}

test('the disk’s, of a line that is none', async () => {
  const { open, hears } = streams();
  const lab = { container: 'lab' } as Cluster['lab'];
  const begun = observeDisk({ lab, nodes: [], openStream: open }, recorder, 0n);
  await vi.waitFor(() => expect(hears).toHaveLength(1));
  const hear = hears[0];
  hear?.(JSON.stringify({ type: 'watching', monoMs: 0 }));
  await using _ = await begun;
  hear?.('panic: out of memory');
  hear?.(JSON.stringify({ type: 'beat', monoMs: 1 }));
  await turn();
  await turn();
  expect(said).toEqual(['observer-began', 'failed: observer of disk', 'observer-beat']);
});

const file = (container: string): string =>
  `/var/log/pods/default_mysql-0_6a1f8e5c-0d9b-4b3e/${container}/0.log`;
const audited = {
  ...{ kind: 'Event', verb: 'delete', user: { username: 'u' }, responseStatus: { code: 200 } },
  ...{ objectRef: { resource: 'nodes', name: 'w' } },
  requestReceivedTimestamp: '2026-11-21T10:00:55Z',
};

test.each([
  ['controller-manager', 'controller-manager', 'stderr F force detach of a volume'],
  ['audit', 'audit', `stdout F ${JSON.stringify(audited)}`],
  ['mysqld', 'server', 'stderr F mysqld: ready for connections'],
  ['self-fence', 'self-fence', 'stdout F fenced'],
] as const)('the follower of the log of %s', async (source, log, text) => {
  const { open, hears } = streams();
  let hasClock = true;
  const clock: Clock = {
    nowMs: () => {
      if (hasClock) return 0;
      throw new Error('there is no time');
    },
    wallMs: () => 0,
    sleep: () => Promise.resolve(),
  };
  const cluster = {
    database: mysql,
    controlPlane: 'w',
    nodes: ['w'],
    openStream: open,
  } as unknown as Cluster;
  await using _ = observeLogs(log, cluster, recorder, clock);
  await vi.waitFor(() => expect(hears).toHaveLength(1));
  for (const has of [false, true]) {
    hasClock = has;
    hears[0]?.(`${file('mysql')} 2026-11-21T10:00:56Z ${text}`);
    await turn();
    await turn();
  }
  expect(said).toEqual(['observer-began', `failed: observer of ${source}`, expect.any(String)]);
});

test('the machine’s', () => {
  vi.useFakeTimers();
  try {
    const seen: string[] = [];
    const failsOnce: Recorder = {
      ...recorder,
      record: (record) => {
        if (seen.push(record.type) === 1) throw new Error('no room');
      },
    };
    using _ = observeMachine(failsOnce);
    vi.advanceTimersByTime(2000);
    expect(seen).toEqual(['machine', 'error', 'machine']);
  } finally {
    vi.useRealTimers();
  }
});

test('the API’s, of an object that is not whole', async () => {
  const metadata = { name: 'n', resourceVersion: '7' };
  const broken = { metadata: { name: 'e', namespace: 'default', resourceVersion: '8' } };
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    // A watch stays open, and says nothing.
    if (url.includes('watch=true')) {
      response.flushHeaders();
      return;
    }
    const items = url.includes('/nodes') ? [{ metadata }] : url.includes('/events') ? [broken] : [];
    response.end(JSON.stringify({ kind: 'List', metadata: { resourceVersion: '9' }, items }));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { config } = await kubeClients(writeKubeconfig(folder, url));
  const scope = { kubeConfig: config, namespace: 'default', podSelector: 'app=mysql' };
  {
    await using _ = await observeApi(scope, recorder);
    await vi.waitFor(() => expect(said).toContain('observer-beat'), 10_000);
  }
  server.closeAllConnections();
  server.close();
  expect(said).toContain('failed: observer of api');
  expect(said).toContain('node-ready');
});
