/** Whether this machine can run a cluster: one list of checks for the doctor and for every start. */
import { existsSync } from 'node:fs';
import { readFile, realpath, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { which } from 'zx';
import { isCheckout, projectRoot, InfrastructureError, kubernetesReleases } from '../core/index.ts';
import { networked } from '../scenario/index.ts';
import * as engine from './engine/commands.ts';
import { engineMissing, linesOf, tryRun } from './engine/run.ts';
import { engineName, kindClusterLabel } from './ownership/registry.ts';
import { leaseAt, leaseCount } from './ownership/lease.ts';

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
  readonly code: string;
  readonly name: string;
  /**
   * `unknown`: it could not be asked; `optional`: it is missing, and a cluster does without it. A
   * start stops for neither.
   */
  readonly state: 'ok' | 'failed' | 'unknown' | 'optional';
  readonly found: string;
  readonly mend?: string;
}

interface CheckOptions {
  /** Reference of the tools image; probes in containers are skipped without it. */
  readonly tools: string | undefined;
  /** Images are built on this machine, so that Go, mmdebstrap and jq are needed. */
  readonly buildsImages: boolean;
}

export async function runPreflight(options: CheckOptions): Promise<CheckResult[]> {
  const machine = await machineFacts();
  const fast = judgeMachine(machine);
  if ('missing' in machine.engine) return fast;
  return [...fast, ...(await probeMachine(options))];
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

/** `freeBytes`: undefined where the engine runs elsewhere. */
type EngineFacts = Readonly<
  Record<'version' | 'cgroupVersion' | 'rootDir', string> & { freeBytes: number | undefined }
>;

/** Cheap ones: a fraction of a second together. */
export interface MachineFacts {
  readonly engine: EngineFacts | { readonly missing: string };
  readonly availableMemoryBytes: number;
  readonly loopControl: boolean;
  /** /dev/fuse: the array serves its paths through it. */
  readonly fuse: boolean;
  /** Where the packages are, if not in the checkout: a container that gets it follows no link out of it. */
  readonly packagesElsewhere: string | undefined;
  /** Nodes of any kind cluster on the engine, but for the cluster that is asked about. */
  readonly otherNodes: number;
  readonly inotifyInstances: number;
  readonly inotifyWatches: number;
}

/** `cluster`: the one that is to be made or reused; its own nodes don't count as others. */
async function machineFacts(cluster?: string): Promise<MachineFacts> {
  const number = async (path: string): Promise<number> => Number(await readFile(path, 'utf8'));
  const memory = /^MemAvailable:\s+(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8'));
  const nodes = await tryRun(engine.runningLabels(kindClusterLabel), { timeoutMs: 20_000 });
  const own = cluster === undefined ? '' : engineName(cluster);
  return {
    engine: await engineFacts(),
    availableMemoryBytes: Number(memory?.[1] ?? 0) * 1024,
    loopControl: existsSync('/dev/loop-control'),
    fuse: existsSync('/dev/fuse'),
    packagesElsewhere: isCheckout ? await packagesElsewhere() : undefined,
    otherNodes: linesOf(nodes.stdout).filter((name) => name !== own).length,
    inotifyInstances: await number('/proc/sys/fs/inotify/max_user_instances'),
    inotifyWatches: await number('/proc/sys/fs/inotify/max_user_watches'),
  };
}

async function packagesElsewhere(): Promise<string | undefined> {
  const packages = await realpath(join(projectRoot, 'node_modules'));
  return packages === join(await realpath(projectRoot), 'node_modules') ? undefined : packages;
}

async function engineFacts(): Promise<MachineFacts['engine']> {
  const format = '{{.ServerVersion}}\t{{.CgroupVersion}}\t{{.DockerRootDir}}';
  const result = await tryRun(engine.info(format), { timeoutMs: 20_000 });
  const [version, cgroupVersion = '', rootDir = ''] = result.stdout.split('\t');
  if (result.exitCode !== 0 || !version) {
    return { missing: (result.stderr || result.stdout || 'it does not answer').trim() };
  }
  const stats = await statfs(rootDir).catch(() => undefined);
  const freeBytes = stats === undefined ? undefined : stats.bavail * stats.bsize;
  return { version, cgroupVersion, rootDir, freeBytes };
}

/** The engine's: `1` or `2`. */
export async function cgroupVersion(): Promise<string> {
  const facts = await engineFacts();
  return 'missing' in facts ? '' : facts.cgroupVersion;
}

export function judgeMachine(facts: MachineFacts): CheckResult[] {
  const { availableMemoryBytes, otherNodes, packagesElsewhere } = facts;
  const instances = inotifyInstances.perCluster + otherNodes * inotifyInstances.perNode;
  return [
    ...judgeEngine(facts.engine),
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
      ok: packagesElsewhere === undefined,
      found: packagesElsewhere ?? 'node_modules',
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
}

const minors = Object.keys(kubernetesReleases);

/** A kubelet refuses version 1 from Kubernetes 1.35 on, unless kind-config.ts sets failCgroupV1. */
const cgroupWords: Readonly<Record<string, string>> = {
  1: `Kubernetes ${minors.at(-1)} to ${minors[0]}; from 1.35 on kubelets get failCgroupV1: false`,
  2: `Kubernetes ${minors.at(-1)} to ${minors[0]}; all runs of this project were on version 1`,
};

function judgeEngine(facts: MachineFacts['engine']): CheckResult[] {
  const engineCheck = ['ENGINE_MISSING', 'a Docker engine'] as const;
  if ('missing' in facts) {
    const found = facts.missing.split('\n')[0] ?? '';
    return [judge(...engineCheck, { ok: false, found, mend: engine.byHand.start })];
  }
  const { version, cgroupVersion, freeBytes, rootDir } = facts;
  const words = cgroupWords[cgroupVersion] ?? 'never tried';
  return [
    judge(...engineCheck, { ok: true, found: version }),
    judge('CGROUPS', 'control groups', { ok: true, found: `version ${cgroupVersion}: ${words}` }),
    judge(
      'DISK_SPACE',
      `at least ${gib(leastDiskBytes)} of disk space`,
      freeBytes === undefined
        ? { skipped: `${rootDir} is not visible from here` }
        : {
            ok: freeBytes >= leastDiskBytes,
            found: `${gib(freeBytes)} free at ${rootDir}`,
            mend: engine.byHand.makeRoom,
          },
    ),
  ];
}

/** A check that could not be made says why. */
type Found =
  | { readonly ok: boolean; readonly found: string; readonly mend?: string }
  | { readonly skipped: string };

export function judge(code: string, name: string, result: Found): CheckResult {
  if ('skipped' in result) return { code, name, state: 'unknown', found: result.skipped };
  const { ok, found, mend } = result;
  const more = ok || mend === undefined ? {} : { mend };
  return { code, name, state: ok ? 'ok' : 'failed', found, ...more };
}

/** Those that start containers and processes: seconds. */
async function probeMachine({ tools, buildsImages }: CheckOptions): Promise<CheckResult[]> {
  const [privileged, kind, go, mmdebstrap, jq, qemu, initiators] = await Promise.all([
    probePrivileged(tools),
    probeCommand('kind', 'version', setUp),
    probeCommand('go', 'version', setUp),
    probeCommand('mmdebstrap', '--version', setUp),
    probeCommand('jq', '--version', setUp),
    probeCommand('qemu-system-x86_64', '--version'),
    tryRun(engine.listImages('forcedetach/*initiator')),
  ]);
  // Alone: its loop device must not be seen by another probe.
  const scratchLoop = await probeScratchLoop(tools);
  const kindOrGo =
    kind.ok || !go.ok ? kind : { ok: true, found: 'built with Go when it is needed' };
  return [
    judge('PRIVILEGED', 'privileged containers', privileged),
    judge('SYS_RESOURCE', 'CAP_SYS_RESOURCE', sysResourceOf(privileged)),
    judge('SCRATCH_LOOP', 'a loop device that can be cut', scratchLoop),
    judge('KIND_MISSING', 'kind, or Go to build it', kindOrGo),
    ...judgeBuildTools(buildsImages ? { go, mmdebstrap, jq } : {}),
    judgeQemu(qemu),
    judgeInitiator(linesOf(initiators.stdout)[0]),
  ];
}

const setUp = 'sudo .ci/setup';

export const judgeBuildTools = (tools: Readonly<Record<string, Found>>): CheckResult[] =>
  Object.entries(tools).map(([tool, found]) =>
    judge('BUILD_TOOL_MISSING', `${tool}, to build images`, found),
  );

/** What the virtual machines of the two-kernels experiment run in. */
export function judgeQemu({ ok, found }: { ok: boolean; found: string }): CheckResult {
  const about = { code: 'QEMU_MISSING', name: 'qemu, for virtual machines of two-kernels' };
  if (ok) return { ...about, state: 'ok', found };
  const mend = 'apt-get install -y --no-install-recommends qemu-system-x86';
  return { ...about, state: 'optional', found: `${found}: --hosts loops works without it`, mend };
}

/** What carries disks over a storage network, and serves them there. */
export function judgeInitiator(image: string | undefined): CheckResult {
  const about = {
    code: 'INITIATOR_IMAGE',
    name: `an initiator, for --disk-transport ${networked.join(' or ')}`,
  };
  if (image !== undefined) return { ...about, state: 'ok', found: image };
  const found = 'no image yet: the first such run makes it, in two minutes';
  return { ...about, state: 'optional', found, mend: 'npm run images' };
}

const alone = ['--privileged', '--network', 'none'];
const noTools = 'the tools image is not built yet';

/** Any tools image of ours that the engine has, newest first. */
export async function localToolsImage(): Promise<string | undefined> {
  const { stdout } = await tryRun(engine.listImages('forcedetach/tools'));
  return linesOf(stdout)[0];
}

async function probePrivileged(tools: string | undefined): Promise<Found> {
  if (tools === undefined) return { skipped: noTools };
  const flags = [...alone, '--entrypoint', 'grep'];
  const argv = engine.runOnce(flags, tools, 'CapBnd', '/proc/self/status');
  const { exitCode, stdout, stderr } = await tryRun(argv, { timeoutMs: 60_000 });
  const ok = exitCode === 0;
  return { ok, found: ok ? stdout.trim() : stderr, mend: engine.byHand.lookAtRights };
}

/** Bit of CAP_SYS_RESOURCE in capabilities(7). */
const sysResource = 1n << 24n;

/** Whether a bounding set (`CapBnd:` of /proc/PID/status) lacks CAP_SYS_RESOURCE. */
export function lacksSysResource(status: string): boolean {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return bounding !== undefined && (BigInt(`0x${bounding}`) & sysResource) === 0n;
}

function sysResourceOf(privileged: Found): Found {
  if ('skipped' in privileged) return privileged;
  if (!privileged.ok) return { skipped: 'no privileged container runs' };
  const lacks = lacksSysResource(privileged.found);
  const found = lacks ? 'missing: kubelet runs with KubeletInUserNamespace' : 'present';
  return { ok: true, found };
}

async function probeScratchLoop(tools: string | undefined): Promise<Found> {
  const script = await readFile(new URL('scratch-loop.sh', import.meta.url), 'utf8');
  // The last number that any lease may use: the least likely to be taken.
  const { first, count } = leaseAt(leaseCount - 1).loops;
  const command = ['-c', script, 'scratch-loop', String(first + count - 1)];
  if (tools === undefined && userInfo().uid !== 0) return { skipped: noTools };
  const inContainer = [...alone, '--entrypoint', 'sh'];
  const { exitCode, stderr } = await tryRun(
    tools === undefined
      ? ['sh', ...command]
      : engine.runOnce(inContainer, tools, ...command, 'own-dev'),
  );
  const ok = exitCode === 0;
  const where = tools === undefined ? 'on the host' : 'in a privileged container';
  const found = ok ? `bound, cut and freed ${where}` : stderr;
  return { ok, found, mend: 'losetup --list' };
}

async function probeCommand(
  command: string,
  flag: string,
  mend?: string,
): Promise<{ readonly ok: boolean; readonly found: string; readonly mend?: string }> {
  const help = mend === undefined ? {} : { mend };
  const found = await which(command, { nothrow: true });
  if (found === null) return { ok: false, found: 'not found', ...help };
  const { exitCode, stdout } = await tryRun([command, flag], { timeoutMs: 10_000 });
  return { ok: exitCode === 0, found: stdout.split('\n')[0] ?? '', ...help };
}

const gib = (bytes: number): string => `${(bytes / gibibyte).toFixed(1)} GiB`;
