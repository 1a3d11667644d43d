/**
 * A sidecar that ends the database once its node looks dead to Kubernetes: mysqld may run only while
 * the node's Lease is renewed and this process can see it. It kills mysqld at the deadline and keeps
 * it down, by a gate file that the database's container waits for, until the Lease is renewed again.
 *
 * What it cannot do: act while it stands still itself (a frozen node), stop what the node's kernel
 * still holds (pages, the mounted file system), or be earlier than its deadline. So the deadline must
 * be shorter than what anybody waits before a second writer is let in: node-monitor-grace-period.
 */
import { rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { describeError, UsageError } from '../errors.ts';
import { kubernetesGet, type ApiServer } from '../kubernetes-get.ts';
import { Deadline } from './deadline.ts';
import { killAll } from './processes.ts';

/** The Lease is read so often; an answer must come within the same time. */
const askEveryMs = 1000;
const lookEveryMs = 100;

const leaseSchema = z.object({ spec: z.object({ renewTime: z.string() }) });

const say = (text: string): void => console.error(`self-fence: ${text}`);

async function renewalOf(server: ApiServer, node: string): Promise<string> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node}`;
  const { status, body } = await kubernetesGet(server, path, askEveryMs);
  if (status !== 200) throw new TypeError(`the API server answered ${status}: ${body}`);
  return leaseSchema.parse(JSON.parse(body)).spec.renewTime;
}

interface Options {
  readonly server: ApiServer;
  readonly node: string;
  readonly gate: string;
  readonly afterMs: number;
}

/** Asks for ever; a question without an answer is no sign of life, and is said once. */
async function ask({ server, node }: Options, deadline: Deadline): Promise<never> {
  let answered = true;
  for (;;) {
    const askedAtMs = performance.now();
    try {
      deadline.see(await renewalOf(server, node), askedAtMs);
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
async function guard({ gate, afterMs }: Options, deadline: Deadline): Promise<never> {
  let isOpen = false;
  await rm(gate, { force: true });
  for (;;) {
    const nowMs = performance.now();
    if (deadline.isAlive(nowMs)) {
      if (!isOpen) {
        await writeFile(gate, '');
        say('open: the Lease is renewed');
        isOpen = true;
      }
    } else {
      if (isOpen) await rm(gate, { force: true });
      const killed = await killAll('mysqld');
      if (isOpen || killed.length > 0) {
        const silentMs = Math.round(deadline.silentForMs(nowMs) ?? 0);
        const processes = killed.length === 0 ? 'none was there' : killed.join(', ');
        say(`shut: no renewal for ${silentMs} of ${afterMs} ms; killed mysqld: ${processes}`);
      }
      isOpen = false;
    }
    await pause(lookEveryMs);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const environmentSchema = z.object({
  NODE_NAME: z.string().min(1),
  KUBERNETES_SERVICE_HOST: z.string().min(1),
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
    throw new UsageError('BAD_SELF_FENCE', 'the self-fence was not told what to do', {
      hint:
        'give --after-ms and --gate, and set NODE_NAME, KUBERNETES_SERVICE_HOST and ' +
        'KUBERNETES_SERVICE_PORT',
    });
  }
  const { NODE_NAME: node, ...api } = environment.data;
  const server = { host: api.KUBERNETES_SERVICE_HOST, port: api.KUBERNETES_SERVICE_PORT };
  return { server, node, gate, afterMs };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0));
const options = readOptions();
const deadline = new Deadline(options.afterMs);
await Promise.all([ask(options, deadline), guard(options, deadline)]);
