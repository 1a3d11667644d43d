/**
 * Every way to end a run from outside: a signal, a closed terminal, an output that nobody reads. The
 * first ends the run, and the heal goes on; later ones say what is on and how long it may take.
 */
import { InterruptError } from '../errors.ts';
import { onTrouble } from './guard.ts';

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
    say(`${why}: the run ends here; healing and cleaning up first`);
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
