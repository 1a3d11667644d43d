/** Whether this machine can run a cluster: one list of checks for the doctor and for every start. */
import { InfrastructureError } from '../../errors.ts';
import { byHand } from '../../engine/commands.ts';
import { kubernetesReleases } from '../../kubernetes-versions.ts';
import { engineMissing } from '../../engine/run.ts';
import {
  machineFacts,
  probeFacts,
  type MachineFacts,
  type MachineCheck,
  type ProbeFacts,
  type ProbeOptions,
} from './machine-facts.ts';

const gibibyte = 1024 ** 3;
/** A cluster of three nodes with two servers takes 2.3 GiB at its peak. */
const leastMemoryBytes = 4 * gibibyte;
/** Images 4 GiB, a node's own copies 0.5 GiB each, volumes and their copies. */
const leastDiskBytes = 10 * gibibyte;
const leastInotifyWatches = 8_192;
/**
 * All containers share their user's instances: 46 were counted on a cluster of three nodes. Where
 * they run out, kubelet of the next node never starts and nothing says why.
 */
const inotifyInstances = { perNode: 16, perCluster: 48 };

export interface CheckResult {
  /** Code of the error that a failed check becomes. */
  readonly code: string;
  readonly name: string;
  /**
   * `unknown`: it could not be asked; `optional`: it is missing, and a cluster does without it. A
   * start stops for neither.
   */
  readonly state: 'ok' | 'failed' | 'unknown' | 'optional';
  readonly found: string;
  /** A command that fixes it. */
  readonly mend?: string;
}

export interface CheckOptions extends ProbeOptions {
  /** Images are built on this machine, so that Go, mmdebstrap and jq are needed. */
  readonly buildsImages: boolean;
}

/** All checks, the slow ones too. */
export async function runPreflight(options: CheckOptions): Promise<CheckResult[]> {
  const machine = await machineFacts();
  const fast = judgeMachine(machine);
  if ('missing' in machine.engine) return fast;
  return [...fast, ...judgeProbes(await probeFacts(options), options)];
}

/** The fast ones: throws InfrastructureError with the code of the first that failed. */
export async function mustPass(cluster: string): Promise<void> {
  const machine = await machineFacts(cluster);
  if ('missing' in machine.engine) throw engineMissing(machine.engine.missing);
  const failed = judgeMachine(machine).find(({ state }) => state === 'failed');
  if (failed === undefined) return;
  throw new InfrastructureError(failed.code, `${failed.name}: ${failed.found}`, {
    hint: 'this shows everything that is missing: npx forcedetach doctor',
    ...(failed.mend === undefined ? {} : { command: failed.mend }),
  });
}

export function judgeMachine(facts: MachineFacts): CheckResult[] {
  const { engine, availableMemoryBytes, otherNodes } = facts;
  const instances = inotifyInstances.perCluster + otherNodes * inotifyInstances.perNode;
  const results = [
    judge('MEMORY', `at least ${gib(leastMemoryBytes)} of free memory`, {
      ok: availableMemoryBytes >= leastMemoryBytes,
      found: `${gib(availableMemoryBytes)} available`,
      mend: 'ps -eo rss,comm --sort=-rss | head',
    }),
    judge('LOOP_DEVICES', 'loop devices', {
      ok: facts.loopControl,
      found: facts.loopControl ? '/dev/loop-control' : 'no /dev/loop-control',
      mend: 'modprobe loop',
    }),
    judge('FUSE', 'FUSE, which serves the disk', {
      ok: facts.fuse,
      found: facts.fuse ? '/dev/fuse' : 'no /dev/fuse',
      mend: 'modprobe fuse',
    }),
    judge('PACKAGES_ELSEWHERE', 'packages inside the checkout', {
      ok: facts.packagesElsewhere === undefined,
      found: facts.packagesElsewhere ?? 'node_modules',
      mend: 'rm node_modules && npm ci',
    }),
    judge('INOTIFY', 'inotify limits', {
      ok: facts.inotifyInstances >= instances && facts.inotifyWatches >= leastInotifyWatches,
      found:
        `${facts.inotifyInstances} instances, ${facts.inotifyWatches} watches` +
        (otherNodes === 0 ? '' : `, with ${otherNodes} nodes of other clusters`),
      mend: 'sysctl -w fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288',
    }),
  ];
  if ('missing' in engine) {
    const found = engine.missing.split('\n')[0] ?? '';
    return [
      judge('ENGINE_MISSING', 'a Docker engine', { ok: false, found, mend: byHand.start }),
      ...results,
    ];
  }
  return [
    judge('ENGINE_MISSING', 'a Docker engine', { ok: true, found: engine.version }),
    judge('CGROUPS', 'control groups', {
      ok: true,
      found: `version ${engine.cgroupVersion}: ${cgroupWords[engine.cgroupVersion] ?? 'never tried'}`,
    }),
    judgeDisk(engine),
    ...results,
  ];
}

const minors = Object.keys(kubernetesReleases);

/** A kubelet refuses version 1 from Kubernetes 1.35 on, unless kind-config.ts sets failCgroupV1. */
const cgroupWords: Readonly<Record<string, string>> = {
  1: `Kubernetes ${minors.at(-1)} to ${minors[0]}; from 1.35 on kubelets get failCgroupV1: false`,
  2: `Kubernetes ${minors.at(-1)} to ${minors[0]}; all runs of this project were on version 1`,
};

function judgeDisk(engine: { rootDir: string; freeBytes: number | undefined }): CheckResult {
  const name = `at least ${gib(leastDiskBytes)} of disk space`;
  if (engine.freeBytes === undefined) {
    const found = `${engine.rootDir} is not visible from here`;
    return { code: 'DISK_SPACE', name, state: 'unknown', found };
  }
  return judge('DISK_SPACE', name, {
    ok: engine.freeBytes >= leastDiskBytes,
    found: `${gib(engine.freeBytes)} free at ${engine.rootDir}`,
    mend: byHand.makeRoom,
  });
}

export function judgeProbes(facts: ProbeFacts, { buildsImages }: CheckOptions): CheckResult[] {
  const checks: (readonly [string, string, MachineCheck, string])[] = [
    ['PRIVILEGED', 'privileged containers', facts.privileged, byHand.lookAtRights],
    ['SYS_RESOURCE', 'CAP_SYS_RESOURCE', facts.sysResource, ''],
    ['SCRATCH_LOOP', 'a loop device that can be cut', facts.scratchLoop, 'losetup --list'],
    ['KIND_MISSING', 'kind, or Go to build it', facts.kind, 'sudo .ci/setup'],
  ];
  if (buildsImages) {
    for (const [tool, probe] of Object.entries(facts.buildTools)) {
      checks.push(['BUILD_TOOL_MISSING', `${tool}, to build images`, probe, 'sudo .ci/setup']);
    }
  }
  const judged = checks.map(
    ([code, name, probe, mend]): CheckResult =>
      'skipped' in probe
        ? { code, name, state: 'unknown', found: probe.skipped }
        : judge(code, name, { ...probe, mend }),
  );
  return [...judged, judgeQemu(facts.qemu)];
}

function judgeQemu({ ok, found }: ProbeFacts['qemu']): CheckResult {
  const about = { code: 'QEMU_MISSING', name: 'qemu, for virtual machines of two-kernels' };
  if (ok) return { ...about, state: 'ok', found };
  const mend = 'apt-get install -y --no-install-recommends qemu-system-x86';
  return { ...about, state: 'optional', found: `${found}: --hosts loops works without it`, mend };
}

function judge(
  code: string,
  name: string,
  { ok, found, mend }: { ok: boolean; found: string; mend?: string },
): CheckResult {
  if (ok || mend === undefined) return { code, name, state: ok ? 'ok' : 'failed', found };
  return { code, name, state: 'failed', found, mend };
}

const gib = (bytes: number): string => `${(bytes / gibibyte).toFixed(1)} GiB`;
