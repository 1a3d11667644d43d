/** The Kubernetes client whose every call has an end, for our own clusters and for a user's. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import type { KubeConfig } from '@kubernetes/client-node';
import { InfrastructureError } from './errors.ts';

/**
 * From sending a request to the end of its answer. kubectl gives up a TLS handshake after 10 s and a
 * connection that stands still after 45 s (`http2.Transport` in client-go: ReadIdleTimeout 30 s and
 * PingTimeout 15 s).
 */
const callTimeoutMs = 30_000;

/**
 * Reads nothing yet. `timeoutMs`: of each call of the API clients made from it, the program for the
 * credentials included; default 30 000.
 */
export async function emptyKubeConfig(timeoutMs: number = callTimeoutMs): Promise<KubeConfig> {
  // Imported here and not at the top: it takes most of a second.
  const { KubeConfig } = await import('@kubernetes/client-node');
  /** Every request passes here, whichever client it is of. A watch does too, and has its own ends. */
  class EndingKubeConfig extends KubeConfig {
    constructor() {
      super();
      endPrograms(this, timeoutMs);
    }

    override async applySecurityAuthentication(
      context: Parameters<KubeConfig['applySecurityAuthentication']>[0],
    ): Promise<void> {
      const over = after(timeoutMs);
      context.setSignal(over);
      const applied = super.applySecurityAuthentication(context);
      await Promise.race([applied, noCredentials(over, timeoutMs)]);
    }
  }
  return new EndingKubeConfig();
}

/**
 * Ends the programs that are to give the credentials: one that hangs would keep this process alive as
 * well. The client has no setting for it, so its own way to start one is wrapped.
 */
function endPrograms(config: KubeConfig, timeoutMs: number): void {
  const authenticators = Reflect.get(config, 'authenticators') as readonly object[];
  const execs = authenticators.filter((each) => 'execFn' in each);
  if (execs.length === 0) throw new Error('the client starts no program for credentials by execFn');
  const start = (command: string, args: readonly string[] = [], options: SpawnOptions = {}) => {
    const child = spawn(command, args, options);
    const timer = setTimeout(() => leave(child), timeoutMs);
    child.once('close', () => clearTimeout(timer));
    return child;
  };
  for (const each of execs) Reflect.set(each, 'execFn', start);
}

/** What it has started itself may live on and hold its pipes: nobody waits for those any more. */
function leave(child: ChildProcess): void {
  child.kill('SIGKILL');
  for (const pipe of child.stdio) pipe?.destroy();
  child.unref();
}

function after(timeoutMs: number): AbortSignal {
  const over = new AbortController();
  // Not AbortSignal.timeout: the client adds to the error's message, and that of its error is fixed.
  const why = `the API server gave no answer in ${timeoutMs / 1000} s`;
  setTimeout(() => over.abort(new InfrastructureError('API_SILENT', why)), timeoutMs).unref();
  return over.signal;
}

/** Nothing was sent yet: the API server is not the one that is silent. */
const noCredentials = (signal: AbortSignal, timeoutMs: number): Promise<never> =>
  new Promise((_, reject) => {
    const why = `the credential program of the kubeconfig gave no answer in ${timeoutMs / 1000} s`;
    const give = (): void => reject(new InfrastructureError('CREDENTIALS_SILENT', why));
    signal.addEventListener('abort', give, { once: true });
  });
