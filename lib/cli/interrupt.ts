/** Ctrl-C and SIGTERM: the first ends the run, the heal goes on; later ones say what is on. */
import { InterruptError } from '../errors.ts';

/** npm passes a signal on to a child that had it from the terminal already. */
const echoMs = 300;

/** Aborts at the first signal; stops listening when disposed. */
export function onInterrupt(
  say: (line: string) => void,
  current: () => string,
): {
  readonly signal: AbortSignal;
  [Symbol.dispose](): void;
} {
  const controller = new AbortController();
  let last = Number.NEGATIVE_INFINITY;
  const handle = (name: NodeJS.Signals): void => {
    const now = performance.now();
    if (now - last < echoMs) return;
    last = now;
    if (controller.signal.aborted) {
      say(`still healing and cleaning up: ${current()}`);
      return;
    }
    say(`${name}: the run ends here; healing and cleaning up first`);
    controller.abort(new InterruptError('INTERRUPTED', `ended by ${name}`));
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.on(name, handle);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of signals) process.off(name, handle);
    },
  };
}
