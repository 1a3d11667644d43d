/** All seeds, by number. */
import { multiAttach, readWriteMany } from './items/attach-gate.ts';
import { mountDirectories, nodeNameAndDirectory } from './items/directories.ts';
import {
  conditionUnknown,
  deadNodesPod,
  evictionAlone,
  evictionInEtcd,
  evictionTimeout,
} from './items/eviction.ts';
import { forceDetach } from './items/force-detach.ts';
import { formatting } from './items/formatting.ts';
import { heartbeatCrash, heartbeatPartition, heartbeatStarved } from './items/heartbeat.ts';
import { mountGate } from './items/mount-gate.ts';
import { procedureSeeds } from './items/procedures.ts';
import { binding, volumePhases } from './items/provisioning.ts';
import { doubleWrite, licence } from './items/second-writer.ts';
import { serialLifecycle } from './items/serial-lifecycle.ts';
import { failedSteps } from './items/stalls.ts';
import { providerExclusivity, rbdWatcher } from './items/watchers.ts';
import type { Seed } from './seed.ts';

export const seeds: readonly Seed[] = [
  serialLifecycle,
  providerExclusivity,
  mountGate,
  forceDetach,
  evictionAlone,
  licence,
  heartbeatCrash,
  heartbeatPartition,
  heartbeatStarved,
  conditionUnknown,
  evictionTimeout,
  evictionInEtcd,
  doubleWrite,
  mountDirectories,
  multiAttach,
  deadNodesPod,
  readWriteMany,
  rbdWatcher,
  formatting,
  nodeNameAndDirectory,
  volumePhases,
  binding,
  failedSteps,
  ...procedureSeeds,
].toSorted((a, b) => a.number - b.number);
