/** What the machine and its engine offer: gathered once, judged in preflight.ts. */
import { existsSync } from 'node:fs';
import { readFile, realpath, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { which } from 'zx';
import { isCheckout, projectRoot } from '../../checkout.ts';
import * as engine from '../../engine/commands.ts';
import { tryRun } from '../../engine/run.ts';
import { engineName, kindClusterLabel } from './ownership/labels.ts';
import { leaseCount, leaseAt } from './ownership/lease.ts';

/** A probe that could not be made says why. */
export type MachineCheck =
  | { readonly ok: boolean; readonly found: string }
  | { readonly skipped: string };

export interface EngineFacts {
  readonly version: string;
  readonly cgroupVersion: string;
  readonly rootDir: string;
  /** Undefined where the engine runs elsewhere. */
  readonly freeBytes: number | undefined;
}

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

/** Those that start containers and processes: seconds. */
export interface ProbeFacts {
  readonly privileged: MachineCheck;
  readonly scratchLoop: MachineCheck;
  readonly sysResource: MachineCheck;
  readonly kind: MachineCheck;
  /** What images are built with. */
  readonly buildTools: Readonly<Record<'go' | 'mmdebstrap' | 'jq', MachineCheck>>;
  /** What the virtual machines of the two-kernels experiment run in. */
  readonly qemu: { readonly ok: boolean; readonly found: string };
}

/** `cluster`: the one that is to be made or reused; its own nodes don't count as others. */
export async function machineFacts(cluster?: string): Promise<MachineFacts> {
  const number = async (path: string): Promise<number> => Number(await readFile(path, 'utf8'));
  const memory = /^MemAvailable:\s+(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8'));
  return {
    engine: await engineFacts(),
    availableMemoryBytes: Number(memory?.[1] ?? 0) * 1024,
    loopControl: existsSync('/dev/loop-control'),
    fuse: existsSync('/dev/fuse'),
    packagesElsewhere: isCheckout ? await packagesElsewhere() : undefined,
    otherNodes: await otherNodes(cluster),
    inotifyInstances: await number('/proc/sys/fs/inotify/max_user_instances'),
    inotifyWatches: await number('/proc/sys/fs/inotify/max_user_watches'),
  };
}

async function packagesElsewhere(): Promise<string | undefined> {
  const packages = await realpath(join(projectRoot, 'node_modules'));
  return packages === join(await realpath(projectRoot), 'node_modules') ? undefined : packages;
}

async function otherNodes(cluster: string | undefined): Promise<number> {
  const { stdout } = await tryRun(engine.runningLabels(kindClusterLabel), { timeoutMs: 20_000 });
  const own = cluster === undefined ? '' : engineName(cluster);
  return stdout.split('\n').filter((name) => name !== '' && name !== own).length;
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
  const engine = await engineFacts();
  return 'missing' in engine ? '' : engine.cgroupVersion;
}

export interface ProbeOptions {
  /** Reference of the tools image; probes in containers are skipped without it. */
  readonly tools: string | undefined;
}

export async function probeFacts({ tools }: ProbeOptions): Promise<ProbeFacts> {
  const [privileged, kind, go, mmdebstrap, jq, qemu] = await Promise.all([
    probePrivileged(tools),
    probeCommand('kind', ['version']),
    probeCommand('go', ['version']),
    probeCommand('mmdebstrap', ['--version']),
    probeCommand('jq', ['--version']),
    probeCommand('qemu-system-x86_64', ['--version']),
  ]);
  // Alone: its loop device must not be seen by another probe.
  const scratchLoop = await probeScratchLoop(tools);
  const sysResource = sysResourceOf(privileged);
  const kindOrGo =
    kind.ok || !go.ok ? kind : { ok: true, found: 'built with Go when it is needed' };
  const buildTools = { go, mmdebstrap, jq };
  return { privileged, scratchLoop, sysResource, kind: kindOrGo, buildTools, qemu };
}

const alone = ['--privileged', '--network', 'none'];
const noTools = 'the tools image is not built yet';

/** Any tools image of ours that the engine has, newest first. */
export async function localToolsImage(): Promise<string | undefined> {
  const { stdout } = await tryRun(engine.listImages('forcedetach/tools'));
  return stdout.split('\n').find((line) => line !== '');
}

async function probePrivileged(tools: string | undefined): Promise<MachineCheck> {
  if (tools === undefined) return { skipped: noTools };
  const flags = [...alone, '--entrypoint', 'grep'];
  const argv = engine.runOnce(flags, tools, 'CapBnd', '/proc/self/status');
  const result = await tryRun(argv, { timeoutMs: 60_000 });
  const ok = result.exitCode === 0;
  return { ok, found: ok ? result.stdout.trim() : result.stderr };
}

/** Bit of CAP_SYS_RESOURCE in capabilities(7). */
const sysResource = 1n << 24n;

/** Whether a bounding set (`CapBnd:` of /proc/PID/status) lacks CAP_SYS_RESOURCE. */
export function lacksSysResource(status: string): boolean {
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(status)?.[1];
  return bounding !== undefined && (BigInt(`0x${bounding}`) & sysResource) === 0n;
}

function sysResourceOf(privileged: MachineCheck): MachineCheck {
  if ('skipped' in privileged) return privileged;
  if (!privileged.ok) return { skipped: 'no privileged container runs' };
  const lacks = lacksSysResource(privileged.found);
  return {
    ok: true,
    found: lacks ? 'missing: kubelet runs with KubeletInUserNamespace' : 'present',
  };
}

async function probeScratchLoop(tools: string | undefined): Promise<MachineCheck> {
  const script = await readFile(new URL('scratch-loop.sh', import.meta.url), 'utf8');
  // The last number that any lease may use: the least likely to be taken.
  const { first, count } = leaseAt(leaseCount - 1).loops;
  const number = String(first + count - 1);
  const command = ['-c', script, 'scratch-loop', number];
  if (tools === undefined && userInfo().uid !== 0) return { skipped: noTools };
  const result = await tryRun(
    tools === undefined
      ? ['sh', ...command]
      : engine.runOnce([...alone, '--entrypoint', 'sh'], tools, ...command, 'own-dev'),
  );
  const ok = result.exitCode === 0;
  const where = tools === undefined ? 'on the host' : 'in a privileged container';
  return { ok, found: ok ? `bound, cut and freed ${where}` : result.stderr };
}

async function probeCommand(
  command: string,
  argv: readonly string[],
): Promise<{ readonly ok: boolean; readonly found: string }> {
  if ((await which(command, { nothrow: true })) === null) return { ok: false, found: 'not found' };
  const result = await tryRun([command, ...argv], { timeoutMs: 10_000 });
  return { ok: result.exitCode === 0, found: result.stdout.split('\n')[0] ?? '' };
}
