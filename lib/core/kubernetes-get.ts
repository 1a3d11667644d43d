/** Asks the API server from within a pod, as the pod's service account. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';

/** Where Kubernetes mounts a pod's identity; the token is renewed there. */
const identityFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface ApiServer {
  readonly host: string;
  readonly port: number;
  /** Folder of the pod's `ca.crt` and `token`. Default: where Kubernetes mounts them. */
  readonly identity?: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

/** Rejects where no answer comes within the time; `timeoutMs` is by default 5000. */
export async function kubernetesGet(
  { host, port, identity = identityFolder }: ApiServer,
  path: string,
  timeoutMs = 5000,
): Promise<ApiAnswer> {
  const [ca, token] = await Promise.all([
    readFile(join(identity, 'ca.crt')),
    readFile(join(identity, 'token'), 'utf8'),
  ]);
  const headers = { Authorization: `Bearer ${token.trim()}`, Accept: 'application/json' };
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, ca, headers, signal }, (response) => {
      response.setEncoding('utf8');
      let body = '';
      response.on('data', (text: string) => (body += text));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.once('error', reject);
    sent.end();
  });
}
