/**
 * How long `forcedetach inspect` takes for a first answer on logs of two busy nodes, and how much memory. `--count n`:
 * so many MB of them; default 200. Where the machine is busy its CPU time counts, and else the time that passes.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BenchContext, BenchResult } from './support/bench.ts';

const target = { seconds: 10, megabytes: 300 };

const clock = (n: number): string => new Date(Date.UTC(2026, 2, 1) + n).toISOString().slice(0, -1);
/** klog’s head, from a time. */
const klog = (n: number, file: string): string =>
  `I${clock(n).slice(5, 10).replace('-', '')} ${clock(n).slice(11)}000    1234 ${file}] `;

/** An entry of which most are about something else, as in a log of an API server. */
function audit(n: number): string {
  const pod = `web-${n % 300}`;
  const [verb, resource, subresource] =
    n % 500 === 0
      ? ['delete', 'pods']
      : n % 3 === 0
        ? ['patch', 'pods', 'status']
        : ['get', 'leases'];
  return JSON.stringify({
    ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', level: 'Request', auditID: `a-${n}` },
    ...{
      stage: 'ResponseComplete',
      requestURI: `/api/v1/namespaces/shop/${resource}/${pod}`,
      verb,
    },
    user: {
      username: `system:node:node-${n % 2}`,
      groups: ['system:nodes', 'system:authenticated'],
    },
    ...{ sourceIPs: ['192.0.2.7'], userAgent: 'kubelet/v1.34.1 (linux/amd64) kubernetes/93248f9' },
    objectRef: { resource, namespace: 'shop', name: pod, apiVersion: 'v1', subresource },
    responseStatus: { metadata: {}, code: 200 },
    requestReceivedTimestamp: `${clock(n * 20)}123Z`,
    stageTimestamp: `${clock(n * 20)}456Z`,
  });
}

const kubelet = (n: number): string =>
  n % 400 === 0
    ? `${klog(n * 20, 'operation_generator.go:600')}"MountVolume.SetUp succeeded for volume \\"data-${n % 50}\\" (UniqueName: \\"kubernetes.io/csi/disk.csi.example^vol-${n % 50}\\") pod \\"web-${n % 300}\\" (UID: \\"uid-${n % 300}\\") "`
    : `${klog(n * 20, 'kubelet.go:2500')}"SyncLoop (PLEG): event for pod" pod="shop/web-${n % 300}" event={"ID":"uid-${n % 300}","Type":"ContainerStarted","Data":"sha-${n}"}`;

const manager = (n: number): string =>
  n % 200 === 0
    ? `${klog(n * 20, 'operation_generator.go:400')}"AttachVolume.Attach succeeded for volume \\"data-${n % 50}\\" (UniqueName: \\"kubernetes.io/csi/disk.csi.example^vol-${n % 50}\\") from node \\"node-${n % 2}\\" "`
    : `${klog(n * 20, 'replica_set.go:700')}"Finished syncing" kind="ReplicaSet" key="shop/web-${n % 300}" duration="1.${n % 900}ms"`;

const server = (n: number): string =>
  `${clock(n * 20)}123Z ${n % 900} [Warning] [MY-010055] [Server] IP address '192.0.2.${n % 250}' could not be resolved: Name or service not known`;

/** Path, share of the whole, and the nth line. */
const logs: readonly (readonly [string, number, (n: number) => string])[] = [
  ['audit.log', 0.4, audit],
  ['node-0/kubelet.log', 0.15, kubelet],
  ['node-1/kubelet.log', 0.15, kubelet],
  ['kube-controller-manager.log', 0.1, manager],
  ['node-0/shop_web-0_uid-0/mysql/0.log', 0.1, server],
  ['node-1/shop_web-1_uid-1/mysql/0.log', 0.1, server],
];

const volumes = (): string =>
  JSON.stringify(
    {
      kind: 'List',
      items: Array.from({ length: 50 }, (_, n) => ({
        ...{ kind: 'PersistentVolume', metadata: { name: `data-${n}`, uid: `pv-${n}` } },
        spec: {
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'disk.csi.example', volumeHandle: `vol-${n}` },
        },
      })),
    },
    undefined,
    4,
  );

function write(path: string, bytes: number, lineAt: (n: number) => string): void {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'w');
  for (let [n, written] = [0, 0]; written < bytes; ) {
    let part = '';
    while (part.length < 1e6) part += `${lineAt(n++)}\n`;
    written += writeSync(file, part);
  }
  closeSync(file);
}

/** Written by the process as it ends. */
interface Used {
  readonly maxRSS: number;
  readonly userCPUTime: number;
  readonly systemCPUTime: number;
}
const tellUsed = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\n'+JSON.stringify(process.resourceUsage())))`;

export default function bench({ onProgress, count = 200 }: BenchContext): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'inspect-bench-'));
  try {
    for (const [path, share, lineAt] of logs)
      write(join(folder, path), share * count * 1e6, lineAt);
    writeFileSync(join(folder, 'volumes.json'), volumes());
    onProgress(`${count} MB of logs are in ${folder}`);
    const beganMs = performance.now();
    const program = join(import.meta.dirname, '../bin/forcedetach.mjs');
    const args = ['--import', tellUsed, program, 'inspect', folder];
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const wallS = (performance.now() - beganMs) / 1000;
    if (status !== 3) throw new Error(`inspect ended with ${status}: ${stderr}`);
    const used = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Used;
    const cpuS = (used.userCPUTime + used.systemCPUTime) / 1e6;
    const megabytes = (used.maxRSS * 1024) / 1e6;
    const isBusy = (loadavg()[0] ?? 0) > availableParallelism();
    const seconds = isBusy ? cpuS : wallS;
    const ok = seconds <= target.seconds && megabytes <= target.megabytes;
    return Promise.resolve({
      ok,
      lines: [
        `${count} MB: ${wallS.toFixed(1)} s passed, ${cpuS.toFixed(1)} s of CPU, ${megabytes.toFixed(0)} MB of memory`,
        `${isBusy ? 'the machine is busy: CPU time counts' : 'time that passed counts'}; at most ${target.seconds} s and ${target.megabytes} MB are wanted`,
        stdout.trim().split('\n').at(-1) ?? '',
      ],
      data: { count, wallS, cpuS, megabytes, isBusy },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
