/** One disk lab for a file of tests, with both hosts on it: containers of one kernel, and machines with a kernel each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';
import type { CaseName } from '../two-kernels/cases.ts';
import { DiskLab } from '../two-kernels/disk-lab.ts';
import { toolsGuest } from '../two-kernels/guest-files.ts';
import type { Host } from '../two-kernels/host.ts';
import { loopHost } from '../two-kernels/loop-host.ts';
import type { Result } from '../two-kernels/result.ts';
import { runCase } from '../two-kernels/run-case.ts';
import { vmHost } from '../two-kernels/vm-host.ts';

export const hostKinds = ['loops', 'vms'] as const;
export type HostKind = (typeof hostKinds)[number];

interface TwoKernelsLab {
  host(kind: HostKind): Host;
  run(name: CaseName, kind: HostKind): Promise<Result['outcome']>;
}

const onProgress = (line: string): void => console.log(`  ${line}`);

/** Opened before the first test, closed after the last. */
export function twoKernelsLab(): TwoKernelsLab {
  let lab: DiskLab;
  let hosts: Readonly<Record<HostKind, Host>>;
  beforeAll(async () => {
    const wanted = { source: 'auto', kubernetes: kubernetesDefault } as const;
    const { tools, array } = await ensureImages({ ...wanted, onProgress });
    const files = await toolsGuest(tools, onProgress);
    lab = await DiskLab.open({ tools, arrayImage: array });
    hosts = { loops: loopHost({ image: tools, ...lab.lease }), vms: vmHost(files) };
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  return {
    host: (kind) => hosts[kind],
    async run(name, kind) {
      const folder = mkdtempSync(join(tmpdir(), 'fd-case-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const { outcome } = await runCase({
        ...{ name, host: hosts[kind], filesystem: 'ext4', repeat: 1, lab, folder },
        ...{ seed: `test/${name}/${kind}`, signal: new AbortController().signal, onProgress },
      });
      return outcome;
    },
  };
}
