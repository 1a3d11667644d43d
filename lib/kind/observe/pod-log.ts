/**
 * Follows container logs where kubelet keeps them, on the node itself: that works while the node
 * is cut off from the API server, and goes on after the node or the container was restarted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { execWithInput } from '../engine/commands.ts';
import type { OpenStream } from '../engine/line-stream.ts';
import { inspect, spawnStream } from '../engine/run.ts';
import { beatEveryMs, type Beating } from '../../history/index.ts';

export interface LogLine {
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

export interface Following {
  /** How the command on the engine is read. Default: one of its own. */
  readonly openStream?: OpenStream;
  /** Is let beat while all lines come, and ended with the following. Default: nobody. */
  readonly beating?: Beating;
}

/**
 * Follows the logs that match a pattern of paths. Lines come once each and in order per file. An
 * end of the command (the node was killed or has no engine) is mended by following again.
 */
export function followPodLogs(
  node: string,
  pattern: string,
  onLine: (line: LogLine) => void,
  { openStream: open = spawnStream, beating }: Following = {},
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
    while (!stop.signal.aborted) {
      await followOnce().catch(() => undefined);
      const pause = new Promise((resolve) => setTimeout(resolve, 500).unref());
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
export function parseBeat(raw: string): readonly (readonly [string, number])[] | undefined {
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
export async function whyDeaf(node: string): Promise<string | undefined> {
  const [found] = statesSchema.parse(await inspect('container', [node]));
  if (found === undefined) return 'the node is gone';
  const { Status: status } = found.State;
  if (status === 'running') return undefined;
  return status === 'paused' ? 'the node is frozen' : 'the node is switched off';
}

export interface NodeLife extends AsyncDisposable {
  beat(): void;
}

export interface NodeLifeOptions {
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
