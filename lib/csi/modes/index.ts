/** Every detach mode by its name in lib/disk-kinds.ts. */
import type { DiskMode } from '../../disk-kinds.ts';
import { ackEarly } from './ack-early.ts';
import { exclusive } from './exclusive.ts';
import { fenceIfOutOfService } from './fence-if-out-of-service.ts';
import { fenced } from './fenced.ts';
import type { DetachMode } from './mode.ts';
import { pendingWhileBusy } from './pending-while-busy.ts';
import { reservation } from './reservation.ts';
import { sharedFile } from './shared-file.ts';
import { unfenced } from './unfenced.ts';

export const modes: Readonly<Record<DiskMode, DetachMode>> = {
  unfenced,
  'ack-early': ackEarly,
  'fence-if-out-of-service': fenceIfOutOfService,
  fenced,
  'pending-while-busy': pendingWhileBusy,
  exclusive,
  reservation,
  'shared-file': sharedFile,
};
