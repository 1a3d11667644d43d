/**
 * Ways to the database that a partition does not touch: one small process a way, from a UNIX
 * socket on the host to the server's port in a pod. An inside relay runs in the node's own network
 * namespace, which a partition leaves alone; an outside one in the lab's.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { firstProcessOf } from '../engine/run.ts';
import { type HistoryRecord, observed, type ClientSide } from '../../history/index.ts';
import { waitFor } from '../../core/index.ts';
import { socketDir } from '../create/kind-config.ts';
import type { Lab } from '../disk/containers.ts';
import { ClientSockets } from './writers.ts';

interface Relay {
  /** Process group in the lab, which shares the host's process namespace. */
  readonly group: string;
  /** First process of the node whose network is used; another one after a reboot. */
  readonly nodePid: string | undefined;
}

export interface PodPlace {
  readonly node: string;
  readonly ip: string;
}

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
  /** Pod UID → where it runs. */
  readonly #pods = new Map<string, PodPlace>();
  #insideNode: string | undefined;

  constructor(relays: Relays) {
    super();
    this.#relays = relays;
  }

  /** The database as it stands when the run begins. */
  async start(pod: PodPlace & { readonly uid: string }): Promise<void> {
    this.#insideNode = pod.node;
    this.#pods.set(pod.uid, pod);
    await this.#leadTo('inside', pod);
    await this.#leadTo('outside', pod);
  }

  /** Follows the API observer's records. Never throws: a route that can't be opened stays as it is. */
  see(record: HistoryRecord): void {
    if (record.type !== 'observation' || record.node === undefined) return;
    const uid = String(record.data['uid']);
    if (record.name === observed.podRunning) {
      const pod = { node: record.node, ip: String(record.data['ip']) };
      this.#pods.set(uid, pod);
      if (pod.node === this.#insideNode) void this.#leadTo('inside', pod).catch(() => undefined);
    }
    if (record.name === observed.podReady && record.data['ready'] === true) {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) void this.#leadTo('outside', pod).catch(() => undefined);
    }
  }

  async #leadTo(side: ClientSide, pod: PodPlace): Promise<void> {
    this.lead(side, await this.#relays.open(side, pod));
  }
}
