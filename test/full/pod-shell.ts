/** The privileged pod on a real node: it keeps the contract of node shells, and leaves nothing. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { emptyHome, makeNamespace, newProbeNamespace } from '../../lib/probe/home.ts';
import { type PodShell, podShell } from '../../lib/probe/node.ts';
import { View } from '../../lib/probe/view.ts';
import { userClients } from '../../lib/core/kubernetes-client.ts';
import { testNodeShell } from '../contract/node-shell-contract.ts';
import type { Lab } from './probe-lab.ts';
import { changedSince, type ClusterState, stateOf } from './probe-state.ts';

/** `now`: the lab, once it is there. */
export function describePodShell(now: () => Lab): void {
  describe('a privileged pod', () => {
    const namespace = newProbeNamespace();
    const over = new AbortController();
    let before: ClusterState;
    let looking: Promise<void>;
    let shell: PodShell;
    beforeAll(async () => {
      const { image, workers: nodes, kubeconfig } = now();
      before = await stateOf(now());
      const clients = await userClients(undefined, kubeconfig);
      await makeNamespace(clients, namespace, { watchMs: 600_000, security: 'privileged' });
      const view = new View(clients, namespace, over.signal);
      looking = view.run();
      const seeing = { clients, view, namespace, signal: over.signal };
      shell = podShell({ ...seeing, plan: { nodes, image } }, 'contract');
    });
    afterAll(async () => {
      over.abort();
      await looking;
      const clients = await userClients(undefined, now().kubeconfig);
      await emptyHome(clients, { namespace, isGiven: false });
      expect((await changedSince(now(), before)).join('\n')).toBe('');
    });

    testNodeShell({ has: ['arm'], now: () => shell });
  });
}
