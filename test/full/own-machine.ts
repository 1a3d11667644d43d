/**
 * A Docker engine of a test's own, that may be stopped, filled and left dirty: its data on a small file
 * system in a file, its networks in a network namespace, its state folders beside. Processes of a run
 * are started inside it. One at a time on a machine; needs root.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { $ } from '../../lib/kind/engine/shell.ts';
import { cacheFolder, ensureImages } from '../../lib/kind/images/ensure.ts';
import { planImages } from '../../lib/kind/images/image-plan.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';
import { leaseAt } from '../../lib/kind/ownership/lease.ts';
import { boundLoops } from '../../lib/kind/ownership/labs.ts';
import type { Place } from '../cluster/experiment.ts';

const quiet = $({ quiet: true });
const namespace = 'fd-own';
/** Short, since sockets lie below. */
const home = '/run/fd-own';
const socket = join(home, 'docker.sock');
/** It stays between tests: moving the images there takes minutes. */
const disk = join(cacheFolder(), 'own-engine.ext4');
/** Sparse. A start wants 10 GiB of it free. */
const diskGib = 20;
const data = join(home, 'data');
/**
 * Loop devices are the kernel's, and two engines do not see each other's leases: the first sixteen are
 * left to the machine's own engine.
 */
const takenSubnet = '172.30.0.0/20';
const ownLeases = [16, 17] as const;

export interface OwnMachine extends AsyncDisposable {
  readonly place: Place;
  readonly state: string;
  docker(...argv: readonly string[]): Promise<string>;
  /** Ends the engine as a restart of its service does, and starts it again. */
  restart(): Promise<void>;
  /** Nothing can be written any more where the engine keeps its data; `free` undoes it. */
  fill(): Promise<void>;
  free(): Promise<void>;
  /** All that runs left, by kind, each with its identity; empty when it is as before the first. */
  left(): Promise<Readonly<Record<string, readonly string[]>>>;
}

const inside = ['nsenter', `--net=/run/netns/${namespace}`];
const state = join(home, 'state');
const env = { DOCKER_HOST: `unix://${socket}`, XDG_STATE_HOME: state };
const place: Place = { enter: inside, env };
const run = $({ quiet: true, env: { ...process.env, ...env } });
const docker = async (...argv: readonly string[]): Promise<string> =>
  (await run`${inside} docker ${argv}`).stdout.trim();
const lines = (text: string): string[] => text.split('\n').filter(Boolean);

export async function ownMachine(): Promise<OwnMachine> {
  // What a test that was killed left.
  await tearDown();
  mkdirSync(data, { recursive: true });
  if (!existsSync(disk)) {
    await quiet`truncate --size ${diskGib}G ${disk}`;
    await quiet`mkfs.ext4 -q -m 0 ${disk}`;
  }
  await quiet`mount -o loop ${disk} ${data}`;
  await quiet`ip netns add ${namespace}`;
  await quiet`ip -n ${namespace} link set lo up`;
  await startEngine();
  await removeAll();
  // An engine that is started again makes the folders that its containers had, but empty.
  rmSync(state, { recursive: true, force: true });
  mkdirSync(state, { recursive: true });
  await moveImages();
  await docker('network', 'create', '--subnet', takenSubnet, 'taken');
  const restart = async (): Promise<void> => {
    await stopEngine();
    await startEngine();
  };
  return { place, state, docker, restart, fill, free, left, [Symbol.asyncDispose]: tearDown };
}

async function tearDown(): Promise<void> {
  await free();
  if (enginePid() !== undefined) {
    await removeAll();
    await stopEngine();
  }
  const isMounted = (await quiet`mountpoint --quiet ${data}`.nothrow()).exitCode === 0;
  if (isMounted) await quiet`umount ${data}`;
  if (existsSync(`/run/netns/${namespace}`)) await quiet`ip netns delete ${namespace}`;
  rmSync(home, { recursive: true, force: true });
}

const pidFile = join(home, 'docker.pid');

/** Of the engine that runs. */
function enginePid(): number | undefined {
  if (!existsSync(pidFile)) return undefined;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const path = `/proc/${pid}/cmdline`;
  return existsSync(path) && readFileSync(path, 'latin1').includes(pidFile) ? pid : undefined;
}

const startMs = 300_000;

async function startEngine(): Promise<void> {
  const places = ['--data-root', data, '--exec-root', join(home, 'exec'), '--pidfile', pidFile];
  const [command, ...argv] = [...inside, 'dockerd', ...places, '--host', `unix://${socket}`];
  const log = openSync(join(home, 'log'), 'a');
  spawn(command, argv, { detached: true, stdio: ['ignore', log, log] }).unref();
  for (const endMs = Date.now() + startMs; Date.now() < endMs; await sleep(500)) {
    if ((await run`docker version`.nothrow()).exitCode === 0) return;
  }
  throw new Error(
    `the engine does not start:\n${readFileSync(join(home, 'log'), 'utf8').slice(-2000)}`,
  );
}

async function stopEngine(): Promise<void> {
  const pid = enginePid();
  if (pid === undefined) throw new Error('the engine does not run');
  process.kill(pid, 'SIGTERM');
  // It stops its containers first.
  while (enginePid() !== undefined) await sleep(200);
}

/** Everything on this engine is a test's. */
async function removeAll(): Promise<void> {
  const containers = lines(await docker('ps', '--all', '--quiet'));
  if (containers.length > 0) await docker('rm', '--force', '--volumes', ...containers);
  await docker('network', 'prune', '--force');
  const volumes = lines(await docker('volume', 'ls', '--quiet'));
  if (volumes.length > 0) await docker('volume', 'rm', '--force', ...volumes);
  // No clean-up comes for these any more: what they belong to was just removed.
  for (const loop of await ownLoops()) await quiet`losetup --detach ${`/dev/loop${loop}`}`;
}

/** From the machine's own engine, which has built them. */
async function moveImages(): Promise<void> {
  const there = await docker('image', 'ls', '--format', '{{.Repository}}:{{.Tag}}');
  const wanted = { source: 'built', kubernetes: kubernetesDefault } as const;
  await ensureImages({ ...wanted, onProgress: () => undefined });
  const { stages } = planImages(wanted);
  const missing = stages
    .flat(2)
    .map(({ ref }) => ref)
    .filter((ref) => !lines(there).includes(ref));
  if (missing.length === 0) return;
  // Gigabytes: they must not pass through this process.
  const load = `env DOCKER_HOST=${env.DOCKER_HOST} ${inside.join(' ')} docker load --quiet`;
  await quiet`bash -c ${`set -o pipefail; docker save ${missing.join(' ')} | ${load}`}`;
}

const ballast = join(data, 'ballast');

async function fill(): Promise<void> {
  const free = await quiet`df --block-size=1 --output=avail ${data}`;
  const bytes = Number(lines(free.stdout)[1]);
  // The map of so many blocks takes some, too: it ends where there is none left.
  await quiet`fallocate --length ${bytes} ${ballast}`.nothrow();
  await quiet`dd if=/dev/zero of=${`${ballast}2`} bs=4096`.nothrow();
}

async function free(): Promise<void> {
  await quiet`rm -f ${ballast} ${`${ballast}2`}`;
}

async function left(): Promise<Record<string, readonly string[]>> {
  const notOfRuns = /(bridge|host|none|taken)$/;
  const networks = lines(
    await docker('network', 'ls', '--no-trunc', '--format', '{{.ID}} {{.Name}}'),
  );
  const volumes = lines(await docker('volume', 'ls', '--quiet'));
  const created = ['volume', 'inspect', '--format', '{{.CreatedAt}} {{.Name}}', ...volumes];
  const found: Record<string, readonly string[]> = {
    containers: lines(await docker('ps', '--all', '--no-trunc', '--format', '{{.ID}} {{.Names}}')),
    networks: networks.filter((line) => !notOfRuns.test(line)),
    volumes: volumes.length === 0 ? [] : lines(await docker(...created)),
    folders: stateFolders(),
    loops: (await ownLoops()).map(String),
    processes: processesOf(state),
  };
  return Object.fromEntries(Object.entries(found).filter(([, those]) => those.length > 0));
}

const ownLoops = async (): Promise<number[]> =>
  (await Promise.all(ownLeases.map((each) => boundLoops(leaseAt(each))))).flat();

/** Each with its token: the next cluster of the name has another. The locks and the host's number stay. */
function stateFolders(): string[] {
  const root = join(state, 'forcedetach');
  const names = existsSync(root) ? readdirSync(root) : [];
  return names
    .filter((name) => !name.startsWith('.'))
    .map((name) => `${name} ${tokenIn(join(root, name))}`);
}

function tokenIn(folder: string): string {
  try {
    return readFileSync(join(folder, '.token'), 'utf8');
  } catch {
    // It is being made, or removed.
    return 'without a token';
  }
}

/** Command lines of the processes whose environment has that text. */
export function processesOf(text: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isOwn = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(text);
      return isOwn ? [readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')] : [];
    } catch {
      // No process, or gone by now.
      return [];
    }
  });
}
