/** Every remedy by name. */
import type { Scenario } from '../experiment/scenario.ts';
import { forceDelete } from './force-delete.ts';
import { none } from './none.ts';
import { outOfService } from './out-of-service.ts';
import type { Remedy } from './remedy.ts';

export const remedies: Readonly<Partial<Record<Scenario['remedy'], Remedy>>> = {
  none,
  'force-delete': forceDelete,
  'out-of-service': outOfService,
};
