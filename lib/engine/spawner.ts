/**
 * Starts commands, streams and writers in a small process of its own. To start one, node copies the
 * page tables of its process, and does nothing else meanwhile: with the 500 MB of a batch that took
 * 0.2 to 0.6 s on a busy machine, each time, and the runner's timers were as late.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { moduleBeside } from '../module-beside.ts';
import { InfrastructureError } from '../errors.ts';
import type { FromSpawner, News, Order, Start, ToSpawner } from './spawner-messages.ts';

export interface Listener {
  readonly hear: (news: News) => void;
  /** The small process is gone, and with it the task. */
  readonly fail: (error: Error) => void;
}

/** Disposal ends the listening, not the task. A task that is listened to keeps this process alive. */
export interface Task extends Disposable {
  order(order: Order): void;
}

class Spawner {
  readonly #child: ChildProcess;
  readonly #listeners = new Map<number, Listener>();
  #lastId = 0;

  constructor(onEnd: () => void) {
    const path = fileURLToPath(moduleBeside('spawner-process', import.meta));
    // A group of its own, as its commands have: Ctrl-C must not end what heals.
    this.#child = fork(path, {
      detached: true,
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on('message', ({ id, ...news }: FromSpawner) =>
      this.#listeners.get(id)?.hear(news),
    );
    this.#child.once('error', (error) => this.#fail(error.message));
    this.#child.once('exit', (code, signal) => {
      onEnd();
      this.#fail(`it ended with ${signal ?? `exit code ${code}`}`);
    });
  }

  begin(start: Start, listener: Listener): Task {
    const id = (this.#lastId += 1);
    this.#listeners.set(id, listener);
    this.#child.channel?.ref();
    this.#send({ id, ...start });
    return {
      order: (order) => this.#send({ id, ...order }),
      [Symbol.dispose]: () => {
        this.#listeners.delete(id);
        if (this.#listeners.size === 0) this.#child.channel?.unref();
      },
    };
  }

  #send(message: ToSpawner): void {
    this.#child.send(message, (error) => {
      if (error !== null) this.#fail(error.message);
    });
  }

  #fail(why: string): void {
    for (const { fail } of this.#listeners.values()) {
      const what = `the process that starts commands is gone: ${why}`;
      fail(new InfrastructureError('COMMAND_FAILED', what));
    }
  }
}

let started: Spawner | undefined;

/** A process that died is replaced at the next task. */
export function beginTask(start: Start, listener: Listener): Task {
  started ??= new Spawner(() => (started = undefined));
  return started.begin(start, listener);
}
