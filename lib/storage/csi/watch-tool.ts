/**
 * Streams what happens to the volumes as JSON lines (watch.ts): `node watch-tool.ts
 * --nodes worker=1234,worker2=2345`. Runs in the lab container, in the host's process namespace, and
 * ends when its stdin does. A line of JSON on stdin tells it the nodes' processes anew.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { arrayAt } from './array-client.ts';
import { monotonicMs } from './grpc.ts';
import { defaultRoot, layoutOf } from './layout.ts';
import { ensureKernelDevices } from './devices.ts';
import { PathWatcher, type WatchLine, watchControlSchema } from './watch.ts';

const everyMs = 100;
/** Well below the bound of lib/history/observations.ts. */
const beatEveryMs = 20_000;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '' },
    root: { type: 'string', default: process.env['FORCEDETACH_ROOT'] ?? defaultRoot },
  },
});

const emit = (line: WatchLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

await ensureKernelDevices();
const layout = layoutOf(values.root);
const watcher = new PathWatcher({ layout, array: arrayAt(layout.arraySocket) }, emit);
watcher.nodes = new Map(
  values.nodes
    .split(',')
    .filter((pair) => pair !== '')
    .map((pair): [string, number] => {
      const [node = '', pid] = pair.split('=');
      return [node, Number(pid)];
    }),
);
emit({ type: 'watching', monoMs: monotonicMs() });

const ended = new AbortController();
const control = createInterface({ input: process.stdin });
control.once('close', () => ended.abort());
control.on('line', (line) => {
  watcher.nodes = new Map(Object.entries(watchControlSchema.parse(JSON.parse(line)).nodes));
});

let beatAtMs = 0;
while (!ended.signal.aborted) {
  try {
    await watcher.look();
    const nowMs = monotonicMs();
    if (nowMs >= beatAtMs) {
      emit({ type: 'beat', monoMs: nowMs });
      beatAtMs = nowMs + beatEveryMs;
    }
  } catch (error) {
    emit({ type: 'failure', monoMs: monotonicMs(), message: String(error) });
  }
  await sleep(everyMs);
}
