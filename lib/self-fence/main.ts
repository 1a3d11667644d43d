/**
 * A sidecar that ends the database once its node looks dead to Kubernetes: mysqld may run only while
 * the node's Lease is renewed and this process can see it. It kills mysqld at the deadline and keeps
 * it down, by a gate file that the database's container waits for, until the Lease is renewed again
 * and the pod is still wanted.
 *
 * What it cannot do: act while it stands still itself (a frozen node), stop what the node's kernel
 * still holds (pages, the mounted file system), or be earlier than its deadline. So the deadline must
 * be shorter than what anybody waits before a second writer is let in: node-monitor-grace-period.
 */
import { rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { describeError, UsageError } from '../errors.ts';
import type { ApiServer } from '../kubernetes-get.ts';
import { renewalOf, stillWanted, type Self } from './api.ts';
import { Deadline } from './deadline.ts';
import { killAll } from './processes.ts';

/** The Lease is read so often; an answer must come within the same time. */
const askEveryMs = 1000;
const lookEveryMs = 100;

const say = (text: string): void => console.error(`self-fence: ${text}`);

interface Options {
  readonly server: ApiServer;
  readonly self: Self;
  readonly gate: string;
  readonly afterMs: number;
}

/** What the asking finds out, and the guard acts on. */
interface Knowledge {
  readonly deadline: Deadline;
  /** Asked at each new beginning: a pod that runs may end by itself when it is deleted. */
  isWanted: boolean;
  isOpen: boolean;
}

/** Asks for ever; a question without an answer is no sign of life, and is said once. */
async function ask({ server, self }: Options, known: Knowledge): Promise<never> {
  let answered = true;
  for (;;) {
    const askedAtMs = performance.now();
    try {
      const renewal = await renewalOf(server, self, askEveryMs);
      if (!known.isOpen) known.isWanted = await stillWanted(server, self, askEveryMs);
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

/** Opens and shuts the gate for ever. The gate is shut before the kill, so that none slips through. */
async function guard({ gate, afterMs }: Options, known: Knowledge): Promise<never> {
  await rm(gate, { force: true });
  for (;;) {
    const nowMs = performance.now();
    const isAlive = known.deadline.isAlive(nowMs);
    if (isAlive && !known.isOpen && known.isWanted) {
      known.isOpen = true;
      await writeFile(gate, '');
      say('open: the Lease is renewed and the pod is wanted');
    } else if (!isAlive) {
      const wasOpen = known.isOpen;
      known.isOpen = false;
      known.isWanted = false;
      if (wasOpen) await rm(gate, { force: true });
      const killed = await killAll('mysqld');
      if (wasOpen || killed.length > 0) {
        const silentMs = Math.round(known.deadline.silentForMs(nowMs) ?? 0);
        const processes = killed.length === 0 ? 'none was there' : killed.join(', ');
        say(`shut: no renewal for ${silentMs} of ${afterMs} ms; killed mysqld: ${processes}`);
      }
    }
    await pause(lookEveryMs);
  }
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
    options: { 'after-ms': { type: 'string' }, gate: { type: 'string' } },
  });
  const afterMs = Number(values['after-ms']);
  const { gate } = values;
  const environment = environmentSchema.safeParse(process.env);
  if (!(afterMs > 0) || gate === undefined || !environment.success) {
    const variables = Object.keys(environmentSchema.shape).join(', ');
    throw new UsageError('BAD_SELF_FENCE', 'the self-fence was not told what to do', {
      hint: `give --after-ms and --gate, and set ${variables}`,
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
  return { server, self, gate, afterMs };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0));
const options = readOptions();
const known = { deadline: new Deadline(options.afterMs), isWanted: false, isOpen: false };
await Promise.all([ask(options, known), guard(options, known)]);
