/**
 * What would end a process at once, whatever it has still to heal: a reader that is gone, a full
 * disk behind stdout, an error that nobody caught. Here none of them does; who listens hears why.
 */
import { describeError, exitCode } from '../errors.ts';

const listeners = new Set<(why: string) => void>();

/** `listener` is told why the process should come to its end. It hears no more once disposed. */
export function onTrouble(listener: (why: string) => void): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}

function tell(why: string): void {
  for (const listener of listeners) listener(why);
}

/** For the whole life of the process; the first import of every experiment calls it. */
export function guardProcess(): void {
  for (const name of ['stdout', 'stderr'] as const) guardStream(name);
  // A rejection that nobody handles comes as such an error, too.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`an error that nobody caught: ${error.stack ?? String(error)}\n`);
    if (listeners.size === 0) process.exit(exitCode.infrastructure);
    tell(`an error that nobody caught: ${describeError(error)}`);
  });
}

function guardStream(name: 'stdout' | 'stderr'): void {
  let isLost = false;
  process[name].on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isLost) return;
    isLost = true;
    // Whoever closes a pipe has read enough; any other answer that could not be told is a failure.
    if (name === 'stdout' && code !== 'EPIPE') {
      process.once('exit', () => (process.exitCode = exitCode.infrastructure));
    }
    tell(`${name} cannot be written any more (${code ?? message})`);
  });
}
