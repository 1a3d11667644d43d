/**
 * A sidecar that ends the database once its node looks dead to Kubernetes: a server may run only while
 * the node's Lease is renewed and this process can see it. It kills the server at the deadline and keeps
 * it down, by a gate file that the database's container waits for, until the Lease is renewed again
 * and the pod is still wanted.
 *
 * The kill alone is no fence: the file system stays mounted, and the node's clean unmount, when it
 * comes back, writes over the successor's. With --folder it is made read-only after the kill.
 *
 * What it cannot do: act while it stands still itself (a frozen node), or be earlier than its deadline. So the deadline must
 * be shorter than what anybody waits before a second writer is let in: node-monitor-grace-period.
 */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { describeError, UsageError, type ApiServer } from '../../core/index.ts';
import { renewalOf, type Self, stillWanted, Deadline, killAll } from './node-life.ts';

/** The Lease is read so often, one question at a time. */
const askEveryMs = 1000;
/** A busy API server may be slow: an answer counts from its question, so that waiting is no risk. */
const answerWithinMs = 3000;
const lookEveryMs = 100;

const log = (text: string): void => console.error(`self-fence: ${text}`);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const execute = promisify(execFile);

interface Options {
  readonly server: ApiServer;
  readonly self: Self;
  readonly gate: string;
  /** Name of the database's processes. */
  readonly ends: string;
  readonly afterMs: number;
  /** On the volume: made read-only after the kill. Undefined: only the kill. */
  readonly folder: string | undefined;
}

class Fence {
  readonly #options: Options;
  readonly #deadline: Deadline;
  /** Answered at each new beginning: a pod that runs may end by itself when it is deleted. */
  #isWanted = false;
  #isOpen = false;
  /** The file system was taken away. */
  #isReadOnly = false;
  /** Why it could not be taken away at the last try; logged once. */
  #trouble: string | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#deadline = new Deadline(options.afterMs);
  }

  /** Reads the Lease for ever; a question without an answer is no sign of life, and is logged once. */
  async readLease(): Promise<never> {
    const { server, self } = this.#options;
    let answered = true;
    for (;;) {
      const beganAtMs = performance.now();
      try {
        const renewal = await renewalOf(server, self, answerWithinMs);
        if (!this.#isOpen) this.#isWanted = await stillWanted(server, self, answerWithinMs);
        this.#deadline.note(renewal, beganAtMs);
        if (!answered) log('the API server answers again');
        answered = true;
      } catch (error) {
        if (answered) log(`the API server does not answer: ${describeError(error)}`);
        answered = false;
      }
      await pause(Math.max(0, beganAtMs + askEveryMs - performance.now()));
    }
  }

  /** Opens and shuts the gate for ever. */
  async guard(): Promise<never> {
    await rm(this.#options.gate, { force: true });
    for (;;) {
      const nowMs = performance.now();
      if (!this.#deadline.isAlive(nowMs)) await this.#shut(nowMs);
      else if (!this.#isOpen && this.#isWanted) await this.#open();
      await pause(lookEveryMs);
    }
  }

  async #open(): Promise<void> {
    this.#isOpen = true;
    if (this.#isReadOnly) await this.#remount('rw');
    this.#isReadOnly = false;
    await writeFile(this.#options.gate, '');
    log('open: the Lease is renewed and the pod is wanted');
  }

  /** The gate is shut before the kill, so that none slips through. */
  async #shut(nowMs: number): Promise<void> {
    const { gate, ends, afterMs, folder } = this.#options;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#isWanted = false;
    if (wasOpen) await rm(gate, { force: true });
    const killed = await killAll(ends);
    if (wasOpen || killed.length > 0) {
      const silentMs = Math.round(this.#deadline.silentForMs(nowMs) ?? 0);
      const processes = killed.length === 0 ? 'none was there' : killed.join(', ');
      log(`shut: no renewal for ${silentMs} of ${afterMs} ms; killed ${ends}: ${processes}`);
    }
    if (folder === undefined || this.#isReadOnly) return;
    try {
      await this.#remount('ro');
      this.#isReadOnly = true;
      this.#trouble = undefined;
      log(`read-only: ${folder}`);
    } catch (error) {
      const trouble = describeError(error);
      if (trouble !== this.#trouble) log(`not read-only yet: ${trouble}`);
      this.#trouble = trouble;
    }
  }

  /**
   * Lets go of the mounted file system, as far as a sidecar can: read-only, so that neither the kernel's
   * write-back nor a later unmount writes any more. For every mount of it. Rejects while a file is open
   * for writing.
   */
  async #remount(how: 'ro' | 'rw'): Promise<void> {
    const { folder } = this.#options;
    if (folder !== undefined) await execute('mount', ['-o', `remount,${how}`, folder]);
  }
}

const name = z.string().min(1);
const environmentSchema = z.object({
  NODE_NAME: name,
  POD_NAMESPACE: name,
  POD_NAME: name,
  POD_UID: name,
  KUBERNETES_SERVICE_HOST: name,
  KUBERNETES_SERVICE_PORT: z.coerce.number().int(),
});

function readOptions(): Options {
  const option = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { 'after-ms': option, gate: option, ends: option, folder: option },
  });
  const afterMs = Number(values['after-ms']);
  const { gate, ends, folder } = values;
  const { data } = environmentSchema.safeParse(process.env);
  if (!(afterMs > 0) || gate === undefined || ends === undefined || data === undefined) {
    const variables = Object.keys(environmentSchema.shape).join(', ');
    throw new UsageError('BAD_SELF_FENCE', 'the self-fence lacks its settings', {
      hint: `give --after-ms, --gate and --ends, and set ${variables}`,
    });
  }
  return {
    server: { host: data.KUBERNETES_SERVICE_HOST, port: data.KUBERNETES_SERVICE_PORT },
    self: {
      node: data.NODE_NAME,
      namespace: data.POD_NAMESPACE,
      pod: data.POD_NAME,
      podUid: data.POD_UID,
    },
    ...{ gate, ends, afterMs, folder },
  };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0));
const fence = new Fence(readOptions());
await Promise.all([fence.readLease(), fence.guard()]);
