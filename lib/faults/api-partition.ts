/**
 * API partition: the victim loses the control plane and nothing else. Kubernetes takes it for dead
 * while its database serves every client.
 */
import { apiPartition as kind } from './kinds/api-partition.ts';
import { lastingFault } from './lasting.ts';
import { apiReached, isIn, reachability, reachedByClients } from './probes.ts';

export const apiPartition = lastingFault(kind, {
  breaks: ({ machine }) => machine.isolate(),
  mends: ({ machine }) => machine.rejoin(),
  whole: ({ machine }) => reachability(machine, true),
  broken: ({ machine }) => [
    apiReached(machine, false),
    reachedByClients(machine, true),
    isIn(machine, 'running', 'the victim itself still runs'),
  ],
});
