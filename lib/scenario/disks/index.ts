/** The modes of disk by name: how each answers Kubernetes, and what it does to a node that still writes. */
import { fieldsOfKinds } from '../fields/of-kinds.ts';
import { ackEarly } from './ack-early.ts';
import { exclusive } from './exclusive.ts';
import { fenceIfOutOfService } from './fence-if-out-of-service.ts';
import { fenced } from './fenced.ts';
import type { DiskModeDeclaration } from './mode.ts';
import { pendingWhileBusy } from './pending-while-busy.ts';
import { reservation } from './reservation.ts';
import { sharedFile } from './shared-file.ts';
import { unfenced } from './unfenced.ts';

/** In the order of docs/reference/drivers.md, from the one that protects least. */
const declared = [
  ...[unfenced, ackEarly, fenceIfOutOfService, fenced, pendingWhileBusy],
  ...[exclusive, reservation, sharedFile],
] as const;

export type DiskMode = (typeof declared)[number]['name'];
export const diskModeDeclarations: readonly DiskModeDeclaration<DiskMode>[] = declared;
export const diskModes: readonly DiskMode[] = declared.map(({ name }) => name);

export const fieldsOfModes = fieldsOfKinds(declared);

/** By name. */
export const diskModeOf = Object.fromEntries(declared.map((mode) => [mode.name, mode])) as Readonly<
  Record<DiskMode, DiskModeDeclaration<DiskMode>>
>;

/** A shared directory, which nobody attaches. */
export const isDirectory = (mode: DiskMode): boolean => diskModeOf[mode].isDirectory === true;
