/** What is asked of a kernel's initiators: rows and cells of ../real-storage. */
import { cells, type CellName, idOf, type Planned } from '../real-storage/cells.ts';
import { iscsi } from './protocols/iscsi.ts';
import { nfs } from './protocols/nfs.ts';
import { nvme } from './protocols/nvme.ts';
import type { Protocol } from './protocols/protocol.ts';
import { rbd } from './protocols/rbd.ts';

export const protocols = { iscsi, nvme, rbd, nfs } as const satisfies Readonly<
  Record<string, Protocol>
>;
export type ProtocolName = keyof typeof protocols;
export const protocolNames = Object.keys(protocols) as ProtocolName[];

/** Frozen guests, idle ones and other orders of the second attach are not asked. */
export const askedCells = [
  'living',
  'base',
  'give-back',
  'cut-600',
] as const satisfies readonly CellName[];
export type AskedCell = (typeof askedCells)[number];

export interface Wanted {
  readonly protocol: ProtocolName;
  readonly cells: readonly AskedCell[];
  readonly revocations?: readonly string[] | undefined;
  readonly repeats: number;
  /** Trials that are there already, by id. */
  readonly done: ReadonlySet<string>;
}

export const trialPrefix = 'kernel ';
export const trialId = (planned: Planned): string => `${trialPrefix}${idOf(planned)}`;

/** A closed session and a lock that was broken leave nothing to undo. */
const canBeUndone = (revocation: string): boolean =>
  !['none', 'session', 'lock-rm-only'].includes(revocation);

/** One of each first: what is interrupted has asked everything. */
export function planOf({ protocol, cells: wanted, revocations, repeats, done }: Wanted): Planned[] {
  const known: readonly string[] = ['none', ...protocols[protocol].revocations];
  return Array.from({ length: repeats }, (_, index) => index + 1)
    .flatMap((repeat) =>
      wanted.flatMap((cell) =>
        known
          .filter((revocation) => revocations?.includes(revocation) ?? true)
          .filter((revocation) => cells[cell].after !== 'give-back' || canBeUndone(revocation))
          .map((revocation) => ({ row: { transport: protocol, revocation }, cell, repeat })),
      ),
    )
    .filter((planned) => !done.has(trialId(planned)));
}
