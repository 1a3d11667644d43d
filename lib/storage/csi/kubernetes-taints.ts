/** Asks the API server for a node's taints, as the pod's service account. */
import { z } from 'zod';
import { InfrastructureError, kubernetesGet, type ApiServer } from '../../core/index.ts';
import type { NodeTaints } from './modes.ts';

const nodeSchema = z.object({
  spec: z.object({ taints: z.array(z.object({ key: z.string() })).optional() }),
});

/** Without a server every question fails. A node that is not there has no taints. */
export const kubernetesTaints = (server: ApiServer | undefined): NodeTaints => ({
  async keysOf(node) {
    if (server === undefined) {
      throw new InfrastructureError('NO_API_SERVER', 'the driver has no address of an API server', {
        hint: 'Set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT in its pod.',
      });
    }
    const { status, body } = await kubernetesGet(
      server,
      `/api/v1/nodes/${encodeURIComponent(node)}`,
    );
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
