/**
 * The client of the array (lib/storage/csi/array): one JSON object a line each way over its UNIX socket.
 * Each call is a connection of its own, so calls share nothing and none waits for another.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { InfrastructureError } from '../../core/index.ts';
import { type ArrayPort, copiedSchema, pathStatusSchema, powerLossSchema } from './array-port.ts';

export interface ArrayClientOptions {
  /** Limit of every call but a copy. Default: 15 s. */
  readonly timeoutMs?: number;
  /** Limit of a copy. Default: 5 minutes. */
  readonly copyTimeoutMs?: number;
}

/** Where a call's answer says nothing but that it is done. */
const done = z.object({}).transform(() => undefined);

/**
 * Nothing is connected until a call is made. Beyond the array's own errors, calls throw
 * NO_ARRAY, ARRAY_TIMEOUT and ARRAY_STRANGE.
 */
export function arrayAt(socketPath: string, options: ArrayClientOptions = {}): ArrayPort {
  const { timeoutMs = 15_000, copyTimeoutMs = 300_000 } = options;
  const call = async <T>(
    request: { readonly do: string },
    answer: z.ZodType<T>,
    timeout = timeoutMs,
  ): Promise<T> => checked(request.do, await exchange(socketPath, request, timeout), answer);
  return {
    open: (request) => call({ do: 'open', ...request }, z.object({ device: z.string() })),
    close: (request) => call({ do: 'close', ...request }, done),
    cut: (request) => call({ do: 'cut', ...request }, done),
    losePower: (request) => call({ do: 'losePower', ...request }, powerLossSchema),
    link: (request) => call({ do: 'link', ...request }, done),
    status: async (volume) => {
      const answer = z.object({ paths: z.array(pathStatusSchema) });
      return (await call({ do: 'status', ...(volume !== undefined && { volume }) }, answer)).paths;
    },
    copy: (request) => call({ do: 'copy', ...request }, copiedSchema, copyTimeoutMs),
    ping: () => call({ do: 'ping' }, z.object({ version: z.string(), clockNs: z.number() })),
  };
}

const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function checked<T>(what: string, line: unknown, answer: z.ZodType<T>): T {
  const failure = failureSchema.safeParse(line);
  if (failure.success) {
    const { code, message } = failure.data.error;
    throw new InfrastructureError(code, `the array: ${message}`);
  }
  const parsed = answer.safeParse(line);
  if (parsed.success) return parsed.data;
  throw new InfrastructureError('ARRAY_STRANGE', `the array's answer to ${what} is not valid`, {
    hint: 'Array and client are of different versions.',
    cause: parsed.error,
  });
}

/** Sends one line and resolves with the parsed line that comes back. */
async function exchange(socketPath: string, request: object, timeoutMs: number): Promise<unknown> {
  const socket = connect(socketPath);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await once(socket, 'connect', { signal });
    socket.write(`${JSON.stringify({ id: 1, ...request })}\n`);
    const lines = createInterface({ input: socket });
    const hangUp = once(socket, 'close', { signal }).then(() => {
      throw new Error('it hung up');
    });
    const [line] = (await Promise.race([once(lines, 'line', { signal }), hangUp])) as [string];
    return JSON.parse(line);
  } catch (cause) {
    throw signal.aborted ? timedOut(timeoutMs, cause) : unreachable(socketPath, cause);
  } finally {
    socket.destroy();
  }
}

const timedOut = (timeoutMs: number, cause: unknown): InfrastructureError =>
  new InfrastructureError('ARRAY_TIMEOUT', `no answer from the array in ${timeoutMs} ms`, {
    cause,
  });

const unreachable = (socketPath: string, cause: unknown): InfrastructureError =>
  new InfrastructureError('NO_ARRAY', `no array answers at ${socketPath}`, {
    hint: 'see whether the container beside the cluster whose name ends in -array runs',
    cause,
  });
