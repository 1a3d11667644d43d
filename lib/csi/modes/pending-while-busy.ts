/**
 * A detach is refused for as long as the node has the volume mounted, as a cloud's volume stays
 * `detaching`; and so is an attach elsewhere, whatever access mode was declared: Kubernetes tries
 * one as soon as a detach has failed. A dead node has nothing mounted. What is not busy is cut, so
 * that detached means it.
 *
 * Where an attach elsewhere is granted all the same, the failed detach is what lets the second writer
 * in: Kubernetes then counts the first attachment as uncertain, and guards against confirmed ones only.
 */
import { status } from '@grpc/grpc-js';
import type { ArrayPort } from '../array-port.ts';
import { CallError } from '../grpc.ts';
import { fence, livePaths } from '../paths.ts';
import type { DetachMode } from './mode.ts';

export const pendingWhileBusy: DetachMode = {
  name: 'pending-while-busy',
  async attach({ backend, volume, node, attributes, notes }) {
    const busy = await busyDevices(backend.array, volume, (other) => other !== node);
    notes['busy'] = busy;
    if (attributes.attachWhileBusy === 'refused') refuseBusy(volume, busy);
  },
  async detach({ backend, volume, node, attachment, notes }) {
    const busy = await busyDevices(backend.array, volume, (other) => other === node);
    notes['busy'] = busy;
    refuseBusy(volume, busy);
    return fence(backend, { volume, attachment });
  },
};

/** Devices of those nodes that are mounted, with their node. */
async function busyDevices(
  array: ArrayPort,
  volume: string,
  isOf: (node: string) => boolean,
): Promise<readonly string[]> {
  const paths = await livePaths(array, { volume });
  return paths
    .filter(({ node, claimed }) => claimed && isOf(node))
    .map(({ node, device }) => `${device} on ${node}`);
}

function refuseBusy(volume: string, busy: readonly string[]): void {
  if (busy.length === 0) return;
  throw new CallError(status.FAILED_PRECONDITION, `${volume} is in use: ${busy.join(', ')}`);
}
