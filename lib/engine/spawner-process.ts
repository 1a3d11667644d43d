/** The process that starts commands; spawner.ts says why there is one. It ends with its parent. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describeError, ForcedetachError } from '../errors.ts';
import { killChildren } from './children.ts';
import { runCommand } from './command.ts';
import { openStream } from './line-stream.ts';
import type { FromSpawner, News, Order, Start, ToSpawner } from './spawner-messages.ts';

type Say = (news: News) => void;
/** Resolves at the task's end; until then `onOrder` names who obeys. */
type Perform<T extends Start['type']> = (
  start: Extract<Start, { type: T }>,
  say: Say,
  onOrder: (obey: (order: Order) => void) => void,
) => Promise<void>;

/** Kept of what a forked process says on stderr. */
const stderrLimit = 4096;

const run: Perform<'run'> = async ({ request }, say, onOrder) => {
  const controller = new AbortController();
  onOrder(() => controller.abort());
  const { signal } = controller;
  const onStderrLine = (line: string): void => say({ type: 'line', line });
  say({ type: 'end', result: await runCommand(request, { signal, onStderrLine }) });
};

const open: Perform<'open'> = async ({ argv }, say, onOrder) => {
  const stream = await openStream(argv, (line) => say({ type: 'line', line }));
  onOrder((order) => {
    if (order.type === 'write') stream.write(order.line);
    else void stream[Symbol.asyncDispose]();
  });
  say({ type: 'opened' });
  await stream.closed;
  say({ type: 'closed' });
};

const forkFile: Perform<'fork'> = async ({ path }, say, onOrder) => {
  const child = fork(path, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'], execArgv: [] });
  let stderr = '';
  child.stderr?.on('data', (text: Buffer) => {
    stderr = `${stderr}${String(text)}`.slice(-stderrLimit);
  });
  child.on('message', (message) => say({ type: 'told', message }));
  onOrder((order) => {
    if (order.type === 'kill') child.kill('SIGKILL');
    // One that is gone already says so by its exit.
    else if (order.type === 'tell' && child.connected) {
      child.send(order.message as object, () => undefined);
    }
  });
  await once(child, 'close');
  const { exitCode, signalCode } = child;
  say({ type: 'exited', exit: { exitCode, signalCode, stderr } });
};

const obeying = new Map<number, (order: Order) => void>();

async function begin(id: number, start: Start): Promise<void> {
  const say: Say = (news) => void process.send?.({ id, ...news } satisfies FromSpawner);
  const onOrder = (obey: (order: Order) => void): void => void obeying.set(id, obey);
  try {
    if (start.type === 'run') await run(start, say, onOrder);
    else if (start.type === 'open') await open(start, say, onOrder);
    else await forkFile(start, say, onOrder);
  } catch (error) {
    say({ type: 'failed', ...reasonOf(error, start) });
  } finally {
    obeying.delete(id);
  }
}

/** A stream's error is told as what it is, a command's in words. */
function reasonOf(
  error: unknown,
  { type }: Start,
): Pick<FromSpawner & { type: 'failed' }, 'reason'> {
  if (type !== 'open' || !(error instanceof Error)) return { reason: describeError(error) };
  const isOurs = error instanceof ForcedetachError && error.command !== undefined;
  const detail = isOurs ? { detail: { command: error.command } } : {};
  return { reason: error.message, ...detail };
}

const isStart = (message: ToSpawner): message is { readonly id: number } & Start =>
  message.type === 'run' || message.type === 'open' || message.type === 'fork';

process.on('message', (message: ToSpawner) => {
  if (isStart(message)) void begin(message.id, message);
  else obeying.get(message.id)?.(message);
});
// However it ended. A `kind create` that outlives a killed run fails, once the next start has removed
// its nodes, and then removes all of that name: the next start's.
process.once('disconnect', () => {
  killChildren();
  process.exit();
});
