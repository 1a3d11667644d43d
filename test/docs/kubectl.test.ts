/** Every kubectl command of the docs, as it stands, on an API server with a lost node. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeCluster, type FakeCluster } from '../support/fake-cluster.ts';
import { commandsOf, docs } from './pages.ts';

const isThere = spawnSync('kubectl', ['version', '--client']).status === 0;
/** Run for real: what the probe writes by test/full/probe.test.ts, policies by test/full/prevention.test.ts. */
const needsMore = /grant\.yaml|job\/forcedetach-probe|apply -f manifests\/prevention/;
const commands = [
  ...new Set(
    docs.flatMap(commandsOf).filter((line) => line.startsWith('kubectl ') && !needsMore.test(line)),
  ),
];

describe.skipIf(!isThere)('kubectl', () => {
  let cluster: FakeCluster;
  const home = mkdtempSync(join(tmpdir(), 'fd-kubectl-'));
  beforeAll(async () => {
    cluster = await fakeCluster();
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    rmSync(home, { recursive: true });
  });

  /** A watch would have no end. */
  function shell(line: string): Promise<{ code: number; output: string }> {
    const typed = line
      .replace(/ -w$/, '')
      .replaceAll(/(^|\| )kubectl /g, `$1kubectl --server=${cluster.url} `);
    const names = { NODE: 'worker-1', PV: 'pv-1', NS: 'shop', CLAIM: 'data-mysql-0' };
    const more = { HANDLE: 'handle-1', VA: 'csi-1' };
    const env = { ...process.env, HOME: home, KUBECONFIG: join(home, 'none'), ...names, ...more };
    return new Promise((resolve) => {
      execFile('bash', ['-c', `set -o pipefail; ${typed}`], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
      });
    });
  }

  test.each(commands)('%s', async (line) => {
    const { code, output } = await shell(line);
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output.trim()).not.toBe('');
  });

  test('the check for a grace period of 0 names that pod and no other', async () => {
    const line = commands.find((each) => each.includes('terminationGracePeriodSeconds')) ?? '';
    const { output } = await shell(line);
    expect(output).toMatch(/no-grace/);
    expect(output).not.toMatch(/mysql-0/);
  });

  test('the volumes of the risk page have a driver each, also those that are in-tree', async () => {
    const line = commands.find((each) => each.startsWith('kubectl get pv -o go-template')) ?? '';
    const { output } = await shell(line);
    expect(output.split('\n').slice(0, 2)).toEqual([
      'pv-1 disk.example [ReadWriteOnce] shop/data-mysql-0',
      'pv-2 awsElasticBlockStore [ReadWriteOnce] ',
    ]);
  });

  test('the taint is the one that Kubernetes knows', () => {
    const set = cluster.changes.find((change) => change.includes('nodeshutdown'));
    expect(set).toMatch(
      /^PATCH \/api\/v1\/nodes\/worker-1: .*node\.kubernetes\.io\/out-of-service/,
    );
    expect(set).toMatch(/"effect":"NoExecute"/);
  });
});
