/** Runs the driver's real processes and the array, and calls them, for tests without Kubernetes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, credentials, makeGenericClientConstructor } from '@grpc/grpc-js';
import { $ } from '../../lib/kind/engine/shell.ts';
import { type ArrayPort, arrayAt } from '../../lib/storage/csi/array-client.ts';
import {
  Controller,
  Identity,
  Node,
  VolumeCapability_AccessMode_Mode as Mode,
} from '../../lib/storage/csi/gen/csi_pb.js';
import { Registration } from '../../lib/storage/csi/gen/pluginregistration_pb.js';
import { service } from '../../lib/storage/csi/grpc.ts';
import { layoutOf } from '../../lib/storage/csi/layout.ts';
import { type WatchLine, watchLineSchema } from '../../lib/storage/csi/watch.ts';
import { arrayProgram } from '../support/array-program.ts';

const csi = resolve(import.meta.dirname, '../../lib/storage/csi');
/**
 * Far above all leases (lib/kind/ownership/lease.ts), so that clusters beside the tests don't matter,
 * and apart for test files that run at once.
 */
const firstLoop = 5000 + 8 * Number(process.env['VITEST_POOL_ID'] ?? 0);
export const lastLoop = firstLoop + 7;
const testLoops = `${firstLoop}-${lastLoop}`;

const capabilityOf = (fsType: string, mode: Mode): object => ({
  accessType: { case: 'mount', value: { fsType, mountFlags: [] } },
  accessMode: { mode },
});
export const capability = capabilityOf('ext4', Mode.SINGLE_NODE_WRITER);
export const xfs = capabilityOf('xfs', Mode.SINGLE_NODE_WRITER);
export const forOnePod = capabilityOf('ext4', Mode.SINGLE_NODE_SINGLE_WRITER);
export const forManyNodes = capabilityOf('ext4', Mode.MULTI_NODE_MULTI_WRITER);

export const raw = {
  accessType: { case: 'block', value: {} },
  accessMode: { mode: Mode.SINGLE_NODE_WRITER },
};

export interface Watch extends AsyncDisposable {
  /** What it wrote so far. */
  readonly lines: readonly WatchLine[];
}

/** Controller and nodes over one shared directory; each node has a kubelet folder of its own. */
export class Driver implements AsyncDisposable {
  readonly root: string;
  /** Kill and restart the process before every call: nothing may live in its memory. */
  restartBeforeCalls = false;
  readonly #processes = new Map<string, ChildProcess>();
  #array: ChildProcess | undefined;

  constructor(root: string) {
    this.root = root;
    mkdirSync(join(root, 'shared'), { recursive: true });
  }

  get #programs(): string {
    return join(this.root, 'programs');
  }

  get #path(): string {
    return `${this.#programs}:${process.env['PATH']}`;
  }

  get shared(): string {
    return join(this.root, 'shared');
  }

  stagingOf(node: string): string {
    return join(this.root, node, 'globalmount');
  }

  targetOf(node: string): string {
    return join(this.root, node, 'pod', 'mount');
  }

  /** Calls the controller or a node's service; rejects with grpc-js's ServiceError. */
  async call(who: string, method: string, request: object): Promise<Record<string, unknown>> {
    if (this.restartBeforeCalls) await this.kill(who);
    await this.start(who);
    return this.callSocket(
      this.socketOf(who),
      who === 'controller' ? 'Controller' : 'Node',
      method,
      request,
    );
  }

  socketOf(who: string): string {
    return join(this.root, who, 'csi.sock');
  }

  /** Of the driver of shared directories. */
  filesSocketOf(who: string): string {
    return join(this.root, who, 'files.sock');
  }

  registrationSocketOf(who: string): string {
    return join(this.root, who, 'reg.sock');
  }

  async callSocket(
    socket: string,
    name: keyof typeof services,
    method: string,
    request: object,
  ): Promise<Record<string, unknown>> {
    const constructor = makeGenericClientConstructor(services[name].definition, name);
    const client = new constructor(`unix://${socket}`, credentials.createInsecure());
    try {
      return await new Promise((answer, reject) => {
        const send = (client as Client & Record<string, (...args: unknown[]) => void>)[method];
        if (send === undefined) throw new TypeError(`no method ${method}`);
        send.call(client, request, (error: Error | null, response: Record<string, unknown>) => {
          if (error === null) answer(response);
          else reject(error);
        });
      });
    } finally {
      client.close();
    }
  }

  /** What the driver itself asks; for tests that ask the array directly. */
  get array(): ArrayPort {
    return arrayAt(layoutOf(this.shared).arraySocket);
  }

  async startArray(): Promise<void> {
    if (this.#array !== undefined) return;
    const args = ['serve', '--root', this.shared];
    this.#array = spawn(await arrayProgram(), args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(this.#array.stdout ?? this.#array, 'data');
  }

  /** SIGKILL: the kernel then answers for it, with errors. */
  async killArray(): Promise<void> {
    const array = this.#array;
    this.#array = undefined;
    if (array === undefined) return;
    const ended = once(array, 'exit');
    array.kill('SIGKILL');
    await ended;
  }

  /** SIGKILL, as when a node dies. */
  async kill(who: string): Promise<void> {
    const running = this.#processes.get(who);
    this.#processes.delete(who);
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  }

  /** Runs shell lines before each run of a program, for processes that start from now on. */
  before(program: string, lines: string): void {
    const path = process.env['PATH'] ?? '';
    const script = `#!/bin/sh\nPATH='${path}'\n${lines}\nexec ${program} "$@"\n`;
    mkdirSync(this.#programs, { recursive: true });
    writeFileSync(join(this.#programs, program), script, { mode: 0o755 });
  }

  async tool(...args: string[]): Promise<Record<string, unknown>> {
    await this.startArray();
    const flags = ['--root', this.shared, '--loops', testLoops];
    const { stdout } = await $({
      quiet: true,
      env: { ...process.env, PATH: this.#path },
    })`${process.execPath} ${join(csi, 'disk-tool.ts')} ${args} ${flags}`;
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** Runs the watch tool; this process stands for each node's first one. */
  async watch(nodes: readonly string[]): Promise<Watch> {
    const pids = nodes.map((node) => `${node}=${process.pid}`).join();
    const args = [join(csi, 'watch-tool.ts'), '--root', this.shared, '--nodes', pids];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines: WatchLine[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(watchLineSchema.parse(JSON.parse(line)));
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    return {
      lines,
      async [Symbol.asyncDispose](): Promise<void> {
        child.stdin.end();
        await ended;
      },
    };
  }

  /** Ends the processes, unmounts what they mounted and frees their devices. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const who of this.#processes.keys()) await this.kill(who);
    const mounts = (await $`awk '{print $2}' /proc/self/mounts`.quiet()).stdout.split('\n');
    for (const mount of mounts.filter((each) => each.startsWith(`${this.root}/`)).toReversed()) {
      await $`umount ${mount}`.quiet();
    }
    await this.tool('release', '--all');
    await this.killArray();
    await $`rm -rf ${this.root}`;
  }

  /** Of a process that is there, or of a new one. */
  async start(who: string): Promise<void> {
    if (this.#processes.has(who)) return;
    await this.startArray();
    const mode = who === 'controller' ? 'controller' : 'node';
    const child = spawn(process.execPath, [join(csi, 'main.ts'), '--mode', mode], {
      env: {
        ...process.env,
        PATH: this.#path,
        NODE_NAME: who,
        CSI_SOCKET: this.socketOf(who),
        ...(mode === 'node' && {
          CSI_REGISTRATION_SOCKET: this.registrationSocketOf(who),
          CSI_FILES_SOCKET: this.filesSocketOf(who),
          CSI_FILES_REGISTRATION_SOCKET: join(this.root, who, 'files-reg.sock'),
        }),
        FORCEDETACH_LOOPS: testLoops,
        FORCEDETACH_ROOT: this.shared,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#processes.set(who, child);
    await once(child.stdout, 'data');
  }
}

const services = {
  Identity: service(Identity, {}),
  Controller: service(Controller, {}),
  Node: service(Node, {}),
  Registration: service(Registration, {}),
} as const;
