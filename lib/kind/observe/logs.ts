/**
 * Observers of logs that survive a partition: one follower, and a table of what each log is and how its
 * lines become records. A line is stamped when it was written: it may be read seconds later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { execWithInput } from '../engine/commands.ts';
import { type OpenStream, inspect, openStream } from '../engine/run.ts';
import {
  auditRequest,
  beatEveryMs,
  type Beating,
  observed,
  type ObservedName,
  declareObserver,
  guarded,
  managerLine,
  type Recorder,
  type Unstamped,
} from '../../history/index.ts';
import type { Clock } from '../../core/index.ts';
import type { Database } from '../../run/index.ts';
import type { Cluster } from '../cluster.ts';
import { namespaceBeside, soleNamespace } from '../scope.ts';

/*
 * Follows container logs where kubelet keeps them, on the node itself: that works while the node
 * is cut off from the API server, and goes on after the node or the container was restarted.
 */

interface LogLine {
  readonly node: string;
  /** Kubelet's file, `/var/log/pods/<namespace>_<pod>_<uid>/<container>/<restart>.log`. */
  readonly file: string;
  readonly podUid: string;
  /** 0-based: how often the container was restarted in that pod. */
  readonly restart: number;
  /** From the runtime's own stamp. Unix milliseconds. */
  readonly wallMs: number;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/**
 * Follows every file that matches, also those that appear later, each from its beginning. Each
 * output line is `<file> <line of the file>`. Every 20 s or so it says `beat`, with each file and how
 * many lines it had two seconds before: who has not been told of all of them does not see. Ends with
 * the shell's stdin.
 */
const followScript = `
follow() { tail -n +1 -F "$1" 2>/dev/null | sed -u "s|^|$1 |"; }
trap 'kill 0' EXIT
seen=
turn=0
( while :; do
  counts=
  for file in $1; do
    [ -f "$file" ] || continue
    [ $turn -gt 0 ] || counts="$counts $file $(wc -l <"$file")"
    case "$seen" in *"|$file|"*) continue ;; esac
    seen="$seen|$file|"
    follow "$file" &
  done
  sleep 2
  [ $turn -gt 0 ] || echo "beat$counts"
  turn=$(( (turn + 1) % 10 ))
done ) &
cat >/dev/null
`;

interface Following {
  /** How the command on the engine is read. Default: one of its own. */
  readonly openStream?: OpenStream;
  /** Is let beat while all lines come, and ended with the following. Default: nobody. */
  readonly beating?: Beating;
}

/** Lines are stamped when they were written, so that a node that is away may be tried seldom. */
const againAfterMs = { least: 500, most: 5000 } as const;

/**
 * Follows the logs that match a pattern of paths. Lines come once each and in order per file. An
 * end of the command (the node was killed or has no engine) is mended by following again.
 */
export function followPodLogs(
  node: string,
  pattern: string,
  onLine: (line: LogLine) => void,
  { openStream: open = openStream, beating }: Following = {},
): AsyncDisposable {
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  /** File → lines handed on: a new command reads each file from its beginning again. */
  const handedOn = new Map<string, number>();
  const life = beating === undefined ? undefined : liveOn(node, beating);

  const followOnce = async (): Promise<void> => {
    const read = new Map<string, number>();
    const argv = execWithInput(node, 'sh', '-c', followScript, 'sh', pattern);
    await using stream = await open(argv, (raw) => {
      const counts = parseBeat(raw);
      if (counts !== undefined) {
        if (counts.every(([file, lines]) => (read.get(file) ?? 0) >= lines)) life?.beat();
        return;
      }
      const [file = ''] = raw.split(' ', 1);
      const number = (read.get(file) ?? 0) + 1;
      read.set(file, number);
      if (number <= (handedOn.get(file) ?? 0)) return;
      handedOn.set(file, number);
      const line = parseLogLine(node, raw);
      if (line !== undefined) onLine(line);
    });
    await Promise.race([stream.closed, stopped]);
  };
  const followed = (async () => {
    let pauseMs: number = againAfterMs.least;
    while (!stop.signal.aborted) {
      const beganAtMs = performance.now();
      await followOnce().catch(() => undefined);
      const isBack = performance.now() - beganAtMs > againAfterMs.most;
      pauseMs = isBack ? againAfterMs.least : Math.min(2 * pauseMs, againAfterMs.most);
      const pause = new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      await Promise.race([pause, stopped]);
    }
  })();
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await followed;
      await life?.[Symbol.asyncDispose]();
    },
  };
}

/** `beat <file> <lines> <file> <lines> …`: undefined where the line is another. */
function parseBeat(raw: string): readonly (readonly [string, number])[] | undefined {
  const [word, ...words] = raw.split(' ');
  if (word !== 'beat') return undefined;
  return words.flatMap((file, index) =>
    index % 2 === 0 ? [[file, Number(words[index + 1])] as const] : [],
  );
}

const cri = /^(\S+) (\S+) (stdout|stderr) [FP] ?(.*)$/;
const podLogFile = /\/[^/_]+_[^/_]+_([^/_]+)\/[^/]+\/(\d+)\.log$/;

/** `<file> <RFC 3339 time> <stream> <F|P> <text>`, as CRI runtimes write it. */
export function parseLogLine(node: string, raw: string): LogLine | undefined {
  const [, file = '', time = '', stream, text = ''] = cri.exec(raw) ?? [];
  const [, podUid, restart] = podLogFile.exec(file) ?? [];
  const wallMs = Date.parse(time);
  if (podUid === undefined || Number.isNaN(wallMs)) return undefined;
  return {
    node,
    file,
    podUid,
    restart: Number(restart),
    wallMs,
    stream: stream === 'stdout' ? 'stdout' : 'stderr',
    text,
  };
}

/** After so long without a beat the node is looked at. */
const patienceMs = 1.5 * beatEveryMs;
const lookEveryMs = 10_000;

const statesSchema = z.array(z.object({ State: z.object({ Status: z.string() }) }));

/** Why nothing on the node can be read now; undefined where it runs: then silence is a gap. */
async function whyDeaf(node: string): Promise<string | undefined> {
  const [found] = statesSchema.parse(await inspect('container', [node]));
  if (found === undefined) return 'the node is gone';
  const { Status: status } = found.State;
  if (status === 'running') return undefined;
  return status === 'paused' ? 'the node is frozen' : 'the node is switched off';
}

export interface NodeLife extends AsyncDisposable {
  beat(): void;
}

interface NodeLifeOptions {
  /** Default: what the engine says of its container. */
  readonly why?: (node: string) => Promise<string | undefined>;
  readonly patienceMs?: number;
  readonly lookEveryMs?: number;
}

/** Until disposed, whatever becomes of the node in between. */
export function liveOn(node: string, beating: Beating, options: NodeLifeOptions = {}): NodeLife {
  const { why = whyDeaf } = options;
  const ended = new AbortController();
  const { signal } = ended;
  let beatAtMs = performance.now();
  const looking = (async () => {
    while (!signal.aborted) {
      await sleep(options.lookEveryMs ?? lookEveryMs, undefined, { signal, ref: false }).catch(
        () => undefined,
      );
      const silentMs = performance.now() - beatAtMs;
      if (signal.aborted || silentMs < (options.patienceMs ?? patienceMs)) continue;
      // An engine that does not answer says nothing of the node: silence stays silence.
      const reason = await why(node).catch(() => undefined);
      if (reason !== undefined) beating.end(reason);
    }
  })();
  return {
    beat: () => {
      beatAtMs = performance.now();
      beating.beat();
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await looking;
      beating.end();
    },
  };
}

interface LogScope {
  /** Of the database. Default: that of a volume alone on the cluster. */
  readonly namespace?: string | undefined;
  /** Handle of the only volume whose forced detaches are meant. Default: all. */
  readonly volume?: string | undefined;
}

interface Reading {
  readonly database: Database;
  readonly clock: Clock;
  readonly namespace: string;
  readonly volume: string;
}

interface Log {
  readonly source: (database: Database) => string;
  /** `nodes`: an observer for each, which ends with its node. */
  readonly on: 'controlPlane' | 'nodes';
  readonly files: (database: Database, namespace: string) => string;
  /** Undefined where the line is none of ours. */
  readonly record: (line: LogLine, reading: Reading) => Unstamped | undefined;
}

const podLogs = '/var/log/pods/';

export const controllerManagerLog = `${podLogs}kube-system_kube-controller-manager-*/kube-controller-manager/*.log`;

/** Databases side by side are followed by one command, which prints the lines of all of them. */
export function containerLog(app: string, container: string, namespace = soleNamespace): string {
  const which = namespace === soleNamespace ? namespace : namespaceBeside('*');
  return `${podLogs}${which}_${app}-*/${container}/*.log`;
}

const containerRecord =
  (
    source: Log['source'],
    name: ObservedName,
    isKept: (text: string, database: Database) => boolean,
  ): Log['record'] =>
  ({ file, node, text, wallMs }, { database, clock, namespace }) =>
    file.startsWith(`${podLogs}${namespace}_`) && isKept(text, database)
      ? {
          ...{ ...written(clock, wallMs), type: 'observation', source: source(database) },
          ...{ name, node, data: { line: text } },
        }
      : undefined;

const written = (clock: Clock, wallMs: number): { readonly t: number; readonly wall: number } => ({
  t: clock.nowMs() - (clock.wallMs() - wallMs),
  wall: wallMs,
});

const serverOf = ({ server }: Database): string => server;
const selfFence = (): string => 'self-fence';

const logs = {
  'controller-manager': {
    source: () => 'controller-manager',
    on: 'controlPlane',
    files: () => controllerManagerLog,
    record: controllerManagerRecord,
  },
  audit: {
    source: () => 'audit',
    on: 'controlPlane',
    files: () => `${podLogs}kube-system_kube-apiserver-*/kube-apiserver/*.log`,
    record: ({ text, stream }, { clock, namespace }) =>
      stream === 'stdout' ? requestRecord(text, clock, namespace) : undefined,
  },
  server: {
    source: serverOf,
    on: 'nodes',
    files: ({ name }, namespace) => containerLog(name, name, namespace),
    record: containerRecord(serverOf, observed.serverLog, (text, { log }) => log.kept.test(text)),
  },
  'self-fence': {
    source: selfFence,
    on: 'nodes',
    files: ({ name }, namespace) => containerLog(name, 'self-fence', namespace),
    record: containerRecord(selfFence, observed.selfFence, () => true),
  },
} as const satisfies Readonly<Record<string, Log>>;

export function observeLogs(
  which: keyof typeof logs,
  { database, controlPlane, nodes, openStream }: Cluster,
  recorder: Recorder,
  clock: Clock,
  { namespace = soleNamespace, volume = '' }: LogScope = {},
): AsyncDisposable {
  const { on, files, record, ...log }: Log = logs[which];
  const source = log.source(database);
  // The audit log goes back to the API server's start.
  const sinceMs = which === 'audit' ? clock.wallMs() : Number.NEGATIVE_INFINITY;
  const take = (line: LogLine): void => {
    const found = record(line, { database, clock, namespace, volume });
    if (found === undefined || Number(found.wall) < sinceMs) return;
    // Other workers are the victims and successors of other events.
    if ('node' in found && ![controlPlane, ...nodes].includes(found.node ?? controlPlane)) return;
    recorder.record(found);
  };
  const followers = (on === 'nodes' ? nodes : [controlPlane]).map((node) => {
    const beating = declareObserver(recorder, { observer: source, sees: [source], node });
    const following = { openStream, beating };
    return followPodLogs(
      node,
      files(database, namespace),
      guarded(recorder, source, take),
      following,
    );
  });
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all(followers.map((follower) => follower[Symbol.asyncDispose]()));
    },
  };
}

function controllerManagerRecord(
  { text, wallMs }: LogLine,
  { clock, volume }: Reading,
): Unstamped | undefined {
  const name = managerLine(text);
  if (name === undefined) return undefined;
  if (name === observed.forceDetachLog && !text.includes(volume)) return undefined;
  const source = 'controller-manager';
  return { ...written(clock, wallMs), type: 'observation', source, name, data: { line: text } };
}

/**
 * A line of the API server's audit log (kind-config.ts): who asked for which change, stamped when the request
 * came in. It must be about the volume, a node, or something in the database's namespace.
 */
export function requestRecord(
  text: string,
  clock: Clock,
  ownNamespace = 'default',
): Unstamped | undefined {
  const request = auditRequest(text);
  const near = [undefined, '', ownNamespace];
  if (request === undefined || !near.includes(request.namespace)) return undefined;
  const { wallMs, node, data } = request;
  return {
    ...written(clock, wallMs),
    ...{ type: 'observation', source: 'audit', name: observed.apiRequest },
    ...(node === undefined ? {} : { node }),
    data,
  };
}
