/** The writers of a run: a process for each client, and their counters. */
import { fileURLToPath } from 'node:url';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { RealDatabase, Writers, WriterSpec } from '../../run/index.ts';
import { firstProcessOf, killGroup, linesTo, startChild, type Child } from '../engine/run.ts';
import { EvidenceError, waitFor } from '../../core/index.ts';
import {
  type SegmentList,
  historyDirectory,
  writerSegment,
  defaultTransferEvery,
  type ClientSide,
  type HistoryRecord,
  observed,
} from '../../history/index.ts';
import type { FromWriter, StartMessage, ToWriter, Way } from './writer-process.ts';
import { socketDir } from '../create/kind-config.ts';
import type { Lab } from '../disk/containers.ts';

interface WriterProcessesOptions {
  readonly specs: readonly WriterSpec[];
  readonly real: Pick<RealDatabase, 'definedIn'>;
  /** The run's folder; each process writes a segment of its history. */
  readonly folder: string;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds. */
  readonly originNs: bigint;
  readonly seed: string;
  readonly routes: Pick<ClientSockets, 'way' | 'onChange'>;
  /** See WriterOptions. Default 8. */
  readonly transferEvery?: number;
}

/** More than the writer's own operation timeout (5 s): one that takes longer is killed. */
const stopTimeoutMs = 7000;

export async function startWriterProcesses(options: WriterProcessesOptions): Promise<Writers> {
  const processes = options.specs.map((spec) => new WriterProcess(startMessage(options, spec)));
  for (const each of processes) each.route(options.routes.way(each.client));
  options.routes.onChange((side, way) => {
    for (const each of processes) if (each.client === side) each.route(way);
  });
  let stopped: Promise<SegmentList> | undefined;
  return {
    acked: () =>
      processes.flatMap(({ client, acked }) =>
        [...acked].map(([node, count]) => ({ client, node, count })),
      ),
    changeSchema: () => processes.find(({ client }) => client === 'inside')?.changeSchema(),
    stop: () => (stopped ??= stopAll(processes)),
  };
}

const startMessage = (
  { real, folder, originNs, seed, transferEvery = defaultTransferEvery }: WriterProcessesOptions,
  spec: WriterSpec,
): StartMessage => ({
  type: 'start',
  spec,
  database: real.definedIn,
  transferEvery,
  seed,
  directory: historyDirectory(folder),
  segment: writerSegment(spec.client),
  originNs: String(originNs),
});

/** Kept of what a writer prints on stderr. */
const stderrLimit = 4096;

class WriterProcess {
  readonly client: ClientSide;
  acked: ReadonlyMap<string, number> = new Map();
  readonly #name: string;
  readonly #child: Child;
  #stderr = '';
  #written: SegmentList | undefined;

  constructor(message: StartMessage) {
    this.client = message.spec.client;
    this.#name = message.segment;
    const path = fileURLToPath(new URL('writer-process.ts', import.meta.url));
    this.#child = startChild([process.execPath, path], {
      onOut: linesTo((line) => this.#take(JSON.parse(line) as FromWriter)),
      onErr: (text) => void (this.#stderr = `${this.#stderr}${text}`.slice(-stderrLimit)),
    });
    this.#send(message);
  }

  #take(message: FromWriter): void {
    if (message.type === 'counts') this.acked = new Map(Object.entries(message.acked));
    else this.#written = message.segments;
  }

  route(way: Way | undefined): void {
    this.#send({ type: 'route', way: way ?? null });
  }

  changeSchema(): void {
    this.#send({ type: 'change-schema' });
  }

  /** Rejects where the process did not end in good order, now or long ago, or not report what it wrote. */
  async stop(): Promise<SegmentList> {
    this.#send({ type: 'stop' });
    const timer = setTimeout(() => killGroup(this.#child.process, 'SIGKILL'), stopTimeoutMs);
    const { exitCode, signal } = await this.#child.exited.finally(() => clearTimeout(timer));
    if (exitCode === 0 && this.#written !== undefined) return this.#written;
    if (exitCode === 0) {
      throw new EvidenceError('WRITER_UNCOUNTED', `${this.#name} never reported what it wrote`);
    }
    const how = signal ?? `exit code ${exitCode}`;
    const died = `${this.#name} ended with ${how}: ${this.#stderr.trim()}`;
    throw new EvidenceError('WRITER_DIED', died);
  }

  #send(message: ToWriter): void {
    this.#child.process.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}

/** Stops all, then throws the first error there was. */
async function stopAll(processes: readonly WriterProcess[]): Promise<SegmentList> {
  const results = await Promise.allSettled(processes.map((each) => each.stop()));
  const segments: SegmentList[] = [];
  for (const result of results) {
    if (result.status === 'rejected') throw result.reason;
    segments.push(result.value);
  }
  return Object.assign({}, ...segments) as SegmentList;
}

/** Which socket leads each client to its database now, and who wants to know when that changes. */
export class ClientSockets {
  readonly #ways = new Map<ClientSide, Way>();
  readonly #listeners = new Set<(side: ClientSide, way: Way) => void>();

  way(side: ClientSide): Way | undefined {
    return this.#ways.get(side);
  }

  get(side: ClientSide): string | undefined {
    return this.#ways.get(side)?.socketPath;
  }

  onChange(listener: (side: ClientSide, way: Way) => void): void {
    this.#listeners.add(listener);
  }

  /** Tells a way again that did not change: it wakes a client that waits. */
  lead(side: ClientSide, socketPath: string, podUid?: string): void {
    const way = { socketPath, ...(podUid === undefined ? {} : { podUid }) };
    this.#ways.set(side, way);
    for (const listener of this.#listeners) listener(side, way);
  }
}

/*
 * Ways to the database that a partition does not touch: one small process a way, from a UNIX
 * socket on the host to the server's port in a pod. An inside relay runs in the node's own network
 * namespace, which a partition leaves alone; an outside one in the lab's.
 */

interface Relay {
  /** Process group in the lab, which shares the host's process namespace. */
  readonly group: string;
  /** First process of the node whose network is used; another one after a reboot. */
  readonly nodePid: string | undefined;
}

interface PodPlace {
  readonly node: string;
  readonly ip: string;
}

type Pod = PodPlace & { readonly uid: string };

export class Relays {
  readonly #lab: Lab;
  /** Host directory that the lab sees as /run/forcedetach. */
  readonly #sockets: string;
  /** The server's, in its pod. */
  readonly #port: number;
  readonly #open = new Map<string, Relay>();
  /** Openings under way, so that two callers get one relay. */
  readonly #opening = new Map<string, Promise<string>>();

  constructor(lab: Lab, sockets: string, port: number) {
    this.#lab = lab;
    this.#sockets = sockets;
    this.#port = port;
  }

  /** Path of a socket that leads to the pod: from within its node, or through the cluster's network. */
  async open(side: ClientSide, { node, ip }: PodPlace): Promise<string> {
    if (side === 'outside') return this.#once(`out-${ip}`, ip, undefined);
    const pid = await firstProcessOf(node);
    return this.#once(`in-${shortName(node)}-${ip}`, ip, pid);
  }

  async close(path: string): Promise<void> {
    const relay = this.#open.get(path);
    this.#open.delete(path);
    if (relay === undefined) return;
    // It may have gone already: then there is nothing to do.
    await this.#lab.exec(['kill', '-KILL', '--', `-${relay.group}`]).catch(() => undefined);
    await this.#lab.exec(['rm', '-f', this.#inLab(path)]);
  }

  async closeAll(): Promise<void> {
    for (const path of this.#open.keys()) await this.close(path);
  }

  #once(name: string, podIp: string, nodePid: string | undefined): Promise<string> {
    const underWay = this.#opening.get(name);
    if (underWay !== undefined) return underWay;
    const opening = this.#start(name, podIp, nodePid).finally(() => this.#opening.delete(name));
    this.#opening.set(name, opening);
    return opening;
  }

  async #start(name: string, podIp: string, nodePid: string | undefined): Promise<string> {
    const path = join(this.#sockets, `${name}.sock`);
    const known = this.#open.get(path);
    if (known !== undefined && known.nodePid === nodePid && (await this.#lives(known))) return path;
    await this.close(path);
    // It leads to a database whose root has no password: nobody else may connect.
    const mine = `mode=0600,user=${process.getuid?.() ?? 0}`;
    const listen = `UNIX-LISTEN:${this.#inLab(path)},fork,unlink-early,${mine}`;
    const dial = `TCP:${podIp}:${this.#port},connect-timeout=3,nodelay`;
    const inNode = nodePid === undefined ? [] : ['nsenter', '--target', nodePid, '--net'];
    const command = ['setsid', ...inNode, 'socat', listen, dial];
    const start = `"$@" >/dev/null 2>&1 & echo $!`;
    // `setsid` keeps the process number: the shell's child leads no group yet.
    const group = await this.#lab.exec(['sh', '-c', start, 'relay', ...command]);
    this.#open.set(path, { group, nodePid });
    await whenListening(path);
    return path;
  }

  #inLab(path: string): string {
    return path.replace(this.#sockets, socketDir);
  }

  async #lives({ group }: Relay): Promise<boolean> {
    return this.#lab.exec(['kill', '-0', '--', `-${group}`]).then(
      () => true,
      () => false,
    );
  }
}

/** `fd-main-worker2` → `worker2`: a socket's path must stay short, and clusters have directories. */
const shortName = (node: string): string => node.slice(node.lastIndexOf('-') + 1);

/**
 * Resolves once somebody listens at the socket; rejects after about 5 s. That its file exists is not
 * enough: socat makes it by bind(2), and a busy machine may stop it there, before listen(2). The way
 * is tried with a connection that says nothing and ends.
 */
export async function whenListening(path: string): Promise<void> {
  const what = `somebody listens at ${path}`;
  await waitFor({ what, timeoutMs: listenTimeoutMs, everyMs: 50 }, () => answers(path));
}

const listenTimeoutMs = 5000;

async function answers(path: string): Promise<true> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}

export class Routes extends ClientSockets {
  readonly #relays: Relays;
  /** By UID. */
  readonly #pods = new Map<string, Pod>();
  #insideNode: string | undefined;

  constructor(relays: Relays) {
    super();
    this.#relays = relays;
  }

  /** The database as it stands when the run begins. */
  async start(pod: Pod): Promise<void> {
    this.#insideNode = pod.node;
    this.#pods.set(pod.uid, pod);
    await this.#leadTo('inside', pod);
    await this.#leadTo('outside', pod);
  }

  /** Follows the API observer's records. Never throws: a route that can't be opened stays as it is. */
  see(record: HistoryRecord): void {
    if (record.type !== 'observation' || record.node === undefined) return;
    const uid = String(record.data.uid);
    if (record.name === observed.podRunning) {
      const pod = { uid, node: record.node, ip: record.data.ip };
      this.#pods.set(uid, pod);
      if (pod.node === this.#insideNode) void this.#leadTo('inside', pod).catch(() => undefined);
    }
    if (record.name === observed.podReady && record.data.ready) {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) void this.#leadTo('outside', pod).catch(() => undefined);
    }
  }

  async #leadTo(side: ClientSide, pod: Pod): Promise<void> {
    this.lead(side, await this.#relays.open(side, pod), pod.uid);
  }
}
