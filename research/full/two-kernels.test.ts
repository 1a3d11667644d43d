/**
 * The disk cases on both hosts, for real: containers of one kernel, and machines with a kernel each.
 * The control must lose commits, and the same crash of stock settings must not.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ensureImages } from '../../lib/images/ensure.ts';
import { kubernetesDefault } from '../../lib/kubernetes-versions.ts';
import type { CaseName } from '../two-kernels/cases.ts';
import { DiskLab } from '../two-kernels/disk-lab.ts';
import { guestFiles } from '../two-kernels/guest-files.ts';
import type { Host, Node } from '../two-kernels/host.ts';
import { loopHost } from '../two-kernels/loop-host.ts';
import type { Result } from '../two-kernels/result.ts';
import { runCase } from '../two-kernels/run-case.ts';
import { vmHost } from '../two-kernels/vm-host.ts';
import { testNodeShell } from '../../test/contract/node-shell-contract.ts';

const onProgress = (line: string): void => console.log(`  ${line}`);

let lab: DiskLab;
const hostKinds = ['loops', 'vms'] as const;
type HostKind = (typeof hostKinds)[number];
let hosts: Readonly<Record<HostKind, Host>>;

beforeAll(async () => {
  const wanted = { source: 'auto', kubernetes: kubernetesDefault } as const;
  const { tools, array } = await ensureImages({ ...wanted, onProgress });
  const files = await guestFiles({ image: tools, onProgress });
  lab = await DiskLab.open({ tools, arrayImage: array });
  hosts = { loops: loopHost({ image: tools, ...lab.lease }), vms: vmHost(files) };
});
afterAll(() => lab[Symbol.asyncDispose]());

async function run(name: CaseName, kind: HostKind): Promise<Result['outcome']> {
  const folder = mkdtempSync(join(tmpdir(), 'fd-case-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { outcome } = await runCase({
    ...{ name, host: hosts[kind], filesystem: 'ext4', repeat: 1, lab, folder },
    ...{ seed: `test/${name}/${kind}`, signal: new AbortController().signal, onProgress },
  });
  return outcome;
}

describe.each(hostKinds)('a node of %s', (kind) => {
  let node: Node;
  beforeAll(async () => {
    node = await hosts[kind].start('victim');
  });
  afterAll(() => node[Symbol.asyncDispose]());
  testNodeShell({ has: ['suspend', 'resume', 'powerOff'], now: () => node });
});

test.each(hostKinds)('on %s a crash takes nothing that was acknowledged', async (kind) => {
  const { images, takeover, acked } = await run('crash', kind);
  expect(takeover).toMatchObject({ mounted: true, ready: true });
  expect(acked.victim).toBeGreaterThan(20);
  expect(acked.successor).toBeGreaterThan(20);
  expect(images).toMatchObject([{ image: 'second', safety: 'safe', complete: true }]);
});

test.each(hostKinds)('on %s the same crash takes the tail of trx_commit=2', async (kind) => {
  const { images } = await run('crash-trx2', kind);
  const [image] = images;
  expect(image).toMatchObject({ safety: 'lost', readable: true, successor: { lost: 0 } });
  expect(image?.victim.lost).toBeGreaterThan(0);
  expect(image?.victim.lost).toBeLessThan(image?.victim.acked ?? 0);
});

test.each(hostKinds)('on %s a zombie takes back what its successor committed', async (kind) => {
  const [first, second] = (await run('zombie', kind)).images;
  expect(first).toMatchObject({ image: 'first', safety: 'safe', complete: true });
  expect(['lost', 'corrupt']).toContain(second?.safety);
  expect(second?.successor).toMatchObject({ lost: second?.successor.acked });
});
