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
import { describeError, UsageError } from '../errors.ts';
import type { ApiServer } from '../kubernetes-get.ts';
import { renewalOf, type Self, stillWanted } from './api.ts';
import { Deadline } from './deadline.ts';
import { killAll } from './processes.ts';

/** The Lease is read so often, one question at a time. */
const askEveryMs = 1000;
/** A busy API server may be slow: an answer counts from its question, so that waiting is no risk. */
const answerWithinMs = 3000;
const lookEveryMs = 100;

const say = (text: string): void => console.error(`self-fence: ${text}`);

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

/** What the asking finds out, and the guard acts on. */
interface Knowledge {
  readonly deadline: Deadline;
  /** Asked at each new beginning: a pod that runs may end by itself when it is deleted. */
  isWanted: boolean;
  isOpen: boolean;
  /** The file system was taken away. */
  isReadOnly: boolean;
  /** Why it could not be taken away at the last look; said once. */
  trouble: string | undefined;
}

/** Asks for ever; a question without an answer is no sign of life, and is said once. */
async function ask({ server, self }: Options, known: Knowledge): Promise<never> {
  let answered = true;
  for (;;) {
    const askedAtMs = performance.now();
    try {
      const renewal = await renewalOf(server, self, answerWithinMs);
      if (!known.isOpen) known.isWanted = await stillWanted(server, self, answerWithinMs);
      known.deadline.see(renewal, askedAtMs);
      if (!answered) say('the API server answers again');
      answered = true;
    } catch (error) {
      if (answered) say(`the API server does not answer: ${describeError(error)}`);
      answered = false;
    }
    await pause(Math.max(0, askedAtMs + askEveryMs - performance.now()));
  }
}

/** Opens and shuts the gate for ever. */
async function guard(options: Options, known: Knowledge): Promise<never> {
  await rm(options.gate, { force: true });
  for (;;) {
    const nowMs = performance.now();
    if (!known.deadline.isAlive(nowMs)) await shut(options, known, nowMs);
    else if (!known.isOpen && known.isWanted) await open(options, known);
    await pause(lookEveryMs);
  }
}

async function open({ gate, folder }: Options, known: Knowledge): Promise<void> {
  known.isOpen = true;
  if (folder !== undefined && known.isReadOnly) await remount(folder, 'rw');
  known.isReadOnly = false;
  await writeFile(gate, '');
  say('open: the Lease is renewed and the pod is wanted');
}

/** The gate is shut before the kill, so that none slips through. */
async function shut(options: Options, known: Knowledge, nowMs: number): Promise<void> {
  const { gate, ends, afterMs, folder } = options;
  const wasOpen = known.isOpen;
  known.isOpen = false;
  known.isWanted = false;
  if (wasOpen) await rm(gate, { force: true });
  const killed = await killAll(ends);
  if (wasOpen || killed.length > 0) {
    const silentMs = Math.round(known.deadline.silentForMs(nowMs) ?? 0);
    const processes = killed.length === 0 ? 'none was there' : killed.join(', ');
    say(`shut: no renewal for ${silentMs} of ${afterMs} ms; killed ${ends}: ${processes}`);
  }
  if (folder === undefined || known.isReadOnly) return;
  try {
    await remount(folder, 'ro');
    known.isReadOnly = true;
    known.trouble = undefined;
    say(`read-only: ${folder}`);
  } catch (error) {
    const trouble = describeError(error);
    if (trouble !== known.trouble) say(`not read-only yet: ${trouble}`);
    known.trouble = trouble;
  }
}

const run = promisify(execFile);

/**
 * Lets go of the mounted file system, as far as a sidecar can: read-only, so that neither the kernel's
 * write-back nor a later unmount writes any more. For every mount of it. Rejects while a file is open
 * for writing.
 */
async function remount(folder: string, how: 'ro' | 'rw'): Promise<void> {
  await run('mount', ['-o', `remount,${how}`, folder]);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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
  const { values } = parseArgs({
    options: {
      'after-ms': { type: 'string' },
      gate: { type: 'string' },
      ends: { type: 'string' },
      folder: { type: 'string' },
    },
  });
  const afterMs = Number(values['after-ms']);
  const { gate, ends, folder } = values;
  const environment = environmentSchema.safeParse(process.env);
  const isTold = gate !== undefined && ends !== undefined;
  if (!(afterMs > 0) || !isTold || !environment.success) {
    const variables = Object.keys(environmentSchema.shape).join(', ');
    throw new UsageError('BAD_SELF_FENCE', 'the self-fence lacks its settings', {
      hint: `give --after-ms, --gate and --ends, and set ${variables}`,
    });
  }
  const { data } = environment;
  const self = {
    node: data.NODE_NAME,
    namespace: data.POD_NAMESPACE,
    pod: data.POD_NAME,
    podUid: data.POD_UID,
  };
  const server = { host: data.KUBERNETES_SERVICE_HOST, port: data.KUBERNETES_SERVICE_PORT };
  return { server, self, gate, ends, afterMs, folder };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0));
const options = readOptions();
const deadline = new Deadline(options.afterMs);
const known: Knowledge = {
  deadline,
  isWanted: false,
  isOpen: false,
  isReadOnly: false,
  trouble: undefined,
};
await Promise.all([ask(options, known), guard(options, known)]);
