/** The two clients that every run has: one on the victim's side of any partition, one outside. */
import type { WriterSpec, Writers } from '../../workload/port.ts';
import { clientSides } from '../../workload/ledger.ts';
import type { Scenario } from '../scenario.ts';

export const bothClients = (
  { connections, rate }: Scenario,
  seed: string,
  reads: Pick<WriterSpec, 'readEveryMs'> = {},
): WriterSpec[] => clientSides.map((client) => ({ client, connections, rate, seed, ...reads }));

/** Each of the two had something acknowledged. */
export function bothCommit(writers: Writers): boolean {
  const acked = writers.acked();
  return clientSides.every((side) =>
    acked.some(({ client, count }) => client === side && count > 0),
  );
}
