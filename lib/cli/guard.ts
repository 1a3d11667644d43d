/**
 * Every way to end a run from outside: a signal, a closed terminal, a full disk behind stdout, an error
 * that is not caught. None of them ends the process at once, whatever it has still to heal: the first
 * ends the run, and the heal goes on; later ones say what is on and how long it may take.
 */
import { describeError, exitCode, InterruptError } from '../core/index.ts';

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
    process.stderr.write(`Uncaught exception: ${error.stack ?? String(error)}\n`);
    if (listeners.size === 0) process.exit(exitCode.infrastructure);
    tell(`an uncaught exception: ${describeError(error)}`);
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
    tell(`${name} can no longer be written (${code ?? message})`);
  });
}

/** npm passes a signal on to a child that had it from the terminal already. */
const echoMs = 300;

/** SIGHUP: the terminal was closed. SIGQUIT: Ctrl-\. */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Aborts at the first of them; stops listening when disposed. `current`: what is going on, a clause. */
export function onInterrupt(
  say: (line: string) => void,
  current: () => string,
): {
  readonly signal: AbortSignal;
  [Symbol.dispose](): void;
} {
  const controller = new AbortController();
  let last = Number.NEGATIVE_INFINITY;
  const end = (why: string): void => {
    say(`${why}: ending the run; healing and cleaning up first`);
    controller.abort(new InterruptError('INTERRUPTED', `ended by ${why}`));
  };
  const onSignal = (name: NodeJS.Signals): void => {
    const now = performance.now();
    if (now - last < echoMs) return;
    last = now;
    if (!controller.signal.aborted) end(name);
    else say(`still healing and cleaning up: ${current()}`);
  };
  for (const name of endingSignals) process.on(name, onSignal);
  const trouble = onTrouble((why) => {
    if (!controller.signal.aborted) end(why);
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of endingSignals) process.off(name, onSignal);
      trouble[Symbol.dispose]();
    },
  };
}
