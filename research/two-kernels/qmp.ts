/** QEMU's control channel (QMP) over a socket that it inherited. */
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { InfrastructureError } from '../../lib/core/index.ts';

interface Reply {
  readonly id?: number;
  readonly return?: unknown;
  readonly error?: { readonly class: string; readonly desc: string };
}

interface PendingAnswer {
  resolve(value: unknown): void;
  reject(reason: Error): void;
}

export class Qmp {
  readonly #socket: Duplex;
  readonly #waiting = new Map<number, PendingAnswer>();
  #nextId = 1;
  #closed: Error | undefined;

  /** Commands may be sent at once; QEMU answers `qmp_capabilities` first. */
  constructor(socket: Duplex) {
    this.#socket = socket;
    // What a dead QEMU was sent is told by its pending answers.
    socket.on('error', () => undefined);
    createInterface({ input: socket })
      .on('line', (line) => this.#take(JSON.parse(line) as Reply))
      .on('error', () => this.#close())
      .on('close', () => this.#close());
    this.execute('qmp_capabilities').catch(() => undefined);
  }

  /** Throws InfrastructureError: QMP_REFUSED, QMP_CLOSED. */
  execute(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) {
        reject(this.#closed);
        return;
      }
      const id = this.#nextId++;
      const refused = (reason: Error): void => {
        const why = `QEMU: ${command}: ${reason.message}`;
        reject(new InfrastructureError('QMP_REFUSED', why, { cause: reason }));
      };
      this.#waiting.set(id, { resolve, reject: refused });
      this.#socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    });
  }

  #take({ id, return: value, error }: Reply): void {
    if (id === undefined) return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(`${error.class}: ${error.desc}`));
  }

  #close(): void {
    this.#closed = new InfrastructureError('QMP_CLOSED', 'QEMU has ended');
    for (const waiting of this.#waiting.values()) waiting.reject(this.#closed);
    this.#waiting.clear();
  }
}
