/** The writers of a run: a process for each client, and their counters. */
import { fileURLToPath } from 'node:url';
import type { RealDatabase, Writers, WriterSpec } from '../../run/index.ts';
import type { Child } from '../engine/child.ts';
import { linesTo } from '../engine/line-stream.ts';
import { startAway } from '../engine/spawner.ts';
import { EvidenceError } from '../../core/index.ts';
import {
  type SegmentList,
  historyDirectory,
  writerSegment,
  defaultTransferEvery,
  type ClientSide,
} from '../../history/index.ts';
import type { FromWriter, StartMessage, ToWriter } from './writer-process.ts';

export interface WriterProcessesOptions {
  readonly specs: readonly WriterSpec[];
  readonly real: Pick<RealDatabase, 'definedIn'>;
  /** The run's folder; each process writes a segment of its history. */
  readonly folder: string;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds. */
  readonly originNs: bigint;
  readonly seed: string;
  readonly routes: Pick<ClientSockets, 'get' | 'onChange'>;
  /** See WriterOptions. Default 8. */
  readonly transferEvery?: number;
}

/** More than the writer's own operation timeout (5 s): one that takes longer is killed. */
const stopTimeoutMs = 7000;

export async function startWriterProcesses(options: WriterProcessesOptions): Promise<Writers> {
  const processes = options.specs.map((spec) => new WriterProcess(startMessage(options, spec)));
  for (const each of processes) each.route(options.routes.get(each.client));
  options.routes.onChange((side, socketPath) => {
    for (const each of processes) if (each.client === side) each.route(socketPath);
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
  readonly #process: Child;
  #stderr = '';
  #written: SegmentList | undefined;

  constructor(message: StartMessage) {
    this.client = message.spec.client;
    this.#name = message.segment;
    const path = fileURLToPath(new URL('writer-process.ts', import.meta.url));
    this.#process = startAway(
      { argv: [process.execPath, path], hasStdin: true },
      {
        onOut: linesTo((line) => this.#take(JSON.parse(line) as FromWriter)),
        onErr: (text) => void (this.#stderr = `${this.#stderr}${text}`.slice(-stderrLimit)),
      },
    );
    this.#send(message);
  }

  #take(message: FromWriter): void {
    if (message.type === 'counts') this.acked = new Map(Object.entries(message.acked));
    else this.#written = message.segments;
  }

  route(socketPath: string | undefined): void {
    this.#send({ type: 'route', socketPath: socketPath ?? null });
  }

  changeSchema(): void {
    this.#send({ type: 'change-schema' });
  }

  /** Rejects where the process did not end in good order, now or long ago, or not report what it wrote. */
  async stop(): Promise<SegmentList> {
    this.#send({ type: 'stop' });
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), stopTimeoutMs);
    const { exitCode, signal } = await this.#process.exited.finally(() => clearTimeout(timer));
    if (exitCode === 0 && this.#written !== undefined) return this.#written;
    if (exitCode === 0) {
      throw new EvidenceError('WRITER_UNCOUNTED', `${this.#name} never reported what it wrote`);
    }
    const how = signal ?? `exit code ${exitCode}`;
    const what = `${this.#name} ended with ${how}: ${this.#stderr.trim()}`;
    throw new EvidenceError('WRITER_DIED', what);
  }

  #send(message: ToWriter): void {
    this.#process.write(`${JSON.stringify(message)}\n`);
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
  readonly #sockets = new Map<ClientSide, string>();
  readonly #listeners = new Set<(side: ClientSide, socket: string) => void>();

  get(side: ClientSide): string | undefined {
    return this.#sockets.get(side);
  }

  onChange(listener: (side: ClientSide, socket: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Tells a socket again that did not change: it wakes a client that waits. */
  lead(side: ClientSide, socket: string): void {
    this.#sockets.set(side, socket);
    for (const listener of this.#listeners) listener(side, socket);
  }
}
