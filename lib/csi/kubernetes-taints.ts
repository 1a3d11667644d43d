/** Asks the API server for a node's taints, as the pod's service account. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { z } from 'zod';
import { InfrastructureError } from '../errors.ts';
import type { NodeTaints } from './modes/mode.ts';

/** Where Kubernetes mounts a pod's identity; the token is renewed there. */
const identityFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const timeoutMs = 5000;

const nodeSchema = z.object({
  spec: z.object({ taints: z.array(z.object({ key: z.string() })).optional() }),
});

export interface ApiServer {
  readonly host: string;
  readonly port: number;
  /** Folder of the pod's `ca.crt` and `token`. Default: where Kubernetes mounts them. */
  readonly identity?: string;
}

/** Without a server every question fails. A node that is not there has no taints. */
export const kubernetesTaints = (server: ApiServer | undefined): NodeTaints => ({
  async keysOf(node) {
    if (server === undefined) {
      throw new InfrastructureError('NO_API_SERVER', 'the driver was told of no API server', {
        hint: 'Set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT in its pod.',
      });
    }
    const { status, body } = await get(server, `/api/v1/nodes/${encodeURIComponent(node)}`);
    if (status === 404) return [];
    if (status !== 200) {
      throw new InfrastructureError('NODE_UNKNOWN', `the API server answered ${status}: ${body}`, {
        command: `kubectl get node ${node} -o yaml`,
      });
    }
    const { taints = [] } = nodeSchema.parse(JSON.parse(body)).spec;
    return taints.map(({ key }) => key);
  },
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function get(
  { host, port, identity = identityFolder }: ApiServer,
  path: string,
): Promise<Answer> {
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
