/** The process that starts commands; spawner.ts says why there is one. It ends with its parent. */
import { describeError, ForcedetachError } from '../../errors.ts';
import { runCommand } from './command.ts';
import type { LabStream } from './lab-port.ts';
import { openStream } from './lab-stream.ts';
import type { FromSpawner, ToSpawner } from './spawner.ts';

const running = new Map<number, AbortController>();
const streams = new Map<number, LabStream>();

const say = (message: FromSpawner): void => void process.send?.(message);

async function perform({ id, request }: Extract<ToSpawner, { type: 'run' }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const result = await runCommand(request, {
      signal: controller.signal,
      onStderrLine: (line) => say({ type: 'line', id, line }),
    });
    say({ type: 'end', id, result });
  } catch (error) {
    say({ type: 'failed', id, reason: describeError(error) });
  } finally {
    running.delete(id);
  }
}

async function follow({ id, argv }: Extract<ToSpawner, { type: 'open' }>): Promise<void> {
  try {
    const stream = await openStream(argv, (line) => say({ type: 'line', id, line }));
    streams.set(id, stream);
    say({ type: 'opened', id });
    await stream.closed;
    say({ type: 'closed', id });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const isOurs = error instanceof ForcedetachError && error.command !== undefined;
    say({ type: 'failed', id, reason, detail: isOurs ? { command: error.command } : {} });
  } finally {
    streams.delete(id);
  }
}

function obey(message: ToSpawner): void {
  const { type, id } = message;
  if (type === 'run') void perform(message);
  else if (type === 'abort') running.get(id)?.abort();
  else if (type === 'open') void follow(message);
  else if (type === 'write') streams.get(id)?.write(message.line);
  else void streams.get(id)?.[Symbol.asyncDispose]();
}

process.on('message', obey);
process.once('disconnect', () => process.exit());
