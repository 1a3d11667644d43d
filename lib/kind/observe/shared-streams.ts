/** Commands that the observers of several volumes read: each runs once for all. */
import type { LineStream, OpenStream } from '../engine/line-stream.ts';
import { spawnStream } from '../engine/run.ts';

type OnLine = (line: string) => void;

/**
 * A way to open streams for `readers` that ask for the same commands: every one gets all lines. One that comes later
 * hears from the command's beginning: the lines are kept until all readers have come.
 */
export function sharedStreams(readers: number, open: OpenStream = spawnStream): OpenStream {
  const running = new Map<string, SharedStream>();
  return async (argv, onLine) => {
    const command = JSON.stringify(argv);
    let stream = running.get(command);
    if (stream === undefined || !stream.isWhole) {
      const fresh = new SharedStream(readers, (tell) => open(argv, tell));
      const forget = (): boolean => running.get(command) === fresh && running.delete(command);
      fresh.ended.then(forget, forget);
      running.set(command, (stream = fresh));
    }
    return stream.join(onLine);
  };
}

class SharedStream {
  /** Resolves or rejects as the command's own end does. */
  readonly ended: Promise<void>;
  readonly #opened: Promise<LineStream>;
  readonly #listeners = new Set<OnLine>();
  #lines: string[] | undefined = [];
  #awaited: number;

  constructor(readers: number, open: (onLine: OnLine) => Promise<LineStream>) {
    this.#awaited = readers;
    this.#opened = open((line) => {
      this.#lines?.push(line);
      for (const listener of this.#listeners) listener(line);
    });
    this.ended = this.#opened.then(({ closed }) => closed);
  }

  /** Whether one who comes now can still be told all. */
  get isWhole(): boolean {
    return this.#lines !== undefined;
  }

  async join(onLine: OnLine): Promise<LineStream> {
    // One that hears the same by the same function twice is two readers.
    const listener: OnLine = (line) => onLine(line);
    for (const line of this.#lines ?? []) onLine(line);
    this.#listeners.add(listener);
    this.#awaited -= 1;
    if (this.#awaited === 0) this.#lines = undefined;
    const opened = await this.#opened;
    const left = Promise.withResolvers<void>();
    const closed = Promise.race([left.promise, opened.closed]);
    closed.catch(() => undefined);
    return {
      closed,
      write: (line) => opened.write(line),
      [Symbol.asyncDispose]: async () => {
        left.resolve();
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) await opened[Symbol.asyncDispose]();
      },
    };
  }
}
