/** The process that starts commands; spawner.ts says why there is one. It ends with its parent. */
import { describeError } from '../../errors.ts';
import { runCommand } from './command.ts';
import type { FromSpawner, ToSpawner } from './spawner.ts';

const running = new Map<number, AbortController>();

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

process.on('message', (message: ToSpawner) => {
  if (message.type === 'run') void perform(message);
  else running.get(message.id)?.abort();
});
process.once('disconnect', () => process.exit());
