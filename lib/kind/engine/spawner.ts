/**
 * Starts commands, streams and writers by a small process of its own. To start one, node copies the page
 * tables of its process, and does nothing else meanwhile: 80 ms with 700 MB on a quiet machine, and with
 * the 500 MB of a batch 0.2 to 0.6 s on a busy one, each time, with the runner's timers as late. The small
 * process also ends with this one, however that ends, and with it all that it started.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { InfrastructureError, moduleBeside } from '../../core/index.ts';
import type { ChildRequest, Exit, Output, StartChild } from './child.ts';

export interface ToSpawner {
  readonly id: number;
  readonly start?: ChildRequest;
  readonly write?: string;
  readonly end?: true;
  readonly kill?: NodeJS.Signals;
}

export interface FromSpawner {
  readonly id: number;
  readonly started?: true;
  readonly out?: string;
  readonly err?: string;
  readonly exit?: Exit;
  /** It could not be started. */
  readonly error?: { readonly message: string; readonly code: string | undefined };
}

interface Away {
  readonly output: Output;
  readonly started: PromiseWithResolvers<void>;
  readonly exited: PromiseWithResolvers<Exit>;
}

class Spawner {
  readonly #process: ChildProcess;
  readonly #children = new Map<number, Away>();
  #lastId = 0;

  constructor(onEnd: () => void) {
    const path = fileURLToPath(moduleBeside('spawner-process', import.meta));
    // A group of its own, as its children have: Ctrl-C must not end what heals.
    this.#process = fork(path, {
      detached: true,
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#process.unref();
    this.#process.channel?.unref();
    this.#process.on('message', (message: FromSpawner) => this.#take(message));
    this.#process.once('error', ({ message }) => this.#fail(message));
    this.#process.once('exit', (code, signal) => {
      onEnd();
      this.#fail(`it ended with ${signal ?? `exit code ${code}`}`);
    });
  }

  /** A child that is listened to keeps this process alive. */
  readonly start: StartChild = (request, output) => {
    const id = (this.#lastId += 1);
    const away = {
      output,
      started: Promise.withResolvers<void>(),
      exited: Promise.withResolvers<Exit>(),
    };
    for (const { promise } of [away.started, away.exited]) promise.catch(() => undefined);
    this.#children.set(id, away);
    this.#process.channel?.ref();
    this.#send({ id, start: request });
    return {
      started: away.started.promise,
      exited: away.exited.promise,
      write: (text) => this.#send({ id, write: text }),
      end: () => this.#send({ id, end: true }),
      kill: (signal) => this.#send({ id, kill: signal }),
      forget: () => this.#forget(id),
    };
  };

  #take({ id, started, out, err, exit, error }: FromSpawner): void {
    const child = this.#children.get(id);
    if (child === undefined) return;
    if (started === true) child.started.resolve();
    else if (out !== undefined) child.output.onOut(out);
    else if (err !== undefined) child.output.onErr(err);
    else {
      this.#forget(id);
      if (exit !== undefined) child.exited.resolve(exit);
      else this.#end(child, Object.assign(new Error(error?.message), { code: error?.code }));
    }
  }

  #forget(id: number): void {
    this.#children.delete(id);
    if (this.#children.size === 0) this.#process.channel?.unref();
  }

  #send(message: ToSpawner): void {
    this.#process.send(message, (error) => {
      if (error !== null) this.#fail(error.message);
    });
  }

  #fail(why: string): void {
    const what = `the process that starts commands is gone: ${why}`;
    for (const child of this.#children.values()) {
      this.#end(child, new InfrastructureError('COMMAND_FAILED', what));
    }
  }

  #end({ started, exited }: Away, error: Error): void {
    started.reject(error);
    exited.reject(error);
  }
}

let spawner: Spawner | undefined;

/** A process that died is replaced at the next start. */
export const startAway: StartChild = (request, output) => {
  spawner ??= new Spawner(() => (spawner = undefined));
  return spawner.start(request, output);
};
