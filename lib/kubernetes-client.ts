/** The Kubernetes client whose every call has an end, for our own clusters and for a user's. */
import type { KubeConfig } from '@kubernetes/client-node';
import { InfrastructureError } from './errors.ts';

/**
 * From sending a request to the end of its answer. kubectl gives up a TLS handshake after 10 s and a
 * connection that stands still after 45 s (`http2.Transport` in client-go: ReadIdleTimeout 30 s and
 * PingTimeout 15 s).
 */
const callTimeoutMs = 30_000;

/** Reads nothing yet. `timeoutMs`: of each call of the API clients made from it; default 30 000. */
export async function emptyKubeConfig(timeoutMs: number = callTimeoutMs): Promise<KubeConfig> {
  // Imported here and not at the top: it takes most of a second.
  const { KubeConfig } = await import('@kubernetes/client-node');
  /** Every request passes here, whichever client it is of. A watch does too, and has its own ends. */
  class EndingKubeConfig extends KubeConfig {
    override async applySecurityAuthentication(
      context: Parameters<KubeConfig['applySecurityAuthentication']>[0],
    ): Promise<void> {
      const over = after(timeoutMs);
      context.setSignal(over);
      // A program that is to give the credentials may never end.
      await Promise.race([super.applySecurityAuthentication(context), aborted(over)]);
    }
  }
  return new EndingKubeConfig();
}

function after(timeoutMs: number): AbortSignal {
  const over = new AbortController();
  // Not AbortSignal.timeout: the client adds to the error's message, and that of its error is fixed.
  const why = `the API server gave no answer in ${timeoutMs / 1000} s`;
  setTimeout(() => over.abort(new InfrastructureError('API_SILENT', why)), timeoutMs).unref();
  return over.signal;
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
