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
import { formatting, mountGate, serialLifecycle } from './items/mounting.ts';
import { heartbeatCrash, heartbeatPartition, heartbeatStarved } from './items/heartbeat.ts';
import { doubleWrite, licence } from './items/second-writer.ts';
import { failedSteps } from './items/stalls.ts';
import { rbdWatcher } from './items/watchers.ts';
import { deletedByHand, detachStalls, division, orphanedLock } from './procedures/attachments.ts';
import { hangingMount, sameNodeRecreate, statusFields } from './procedures/kubelet.ts';
import { walkBinding, walkPhases } from './procedures/provisioning.ts';
import { detachGate, noAttach, sharedMount, twoNodesAttach } from './procedures/second-pods.ts';
import { keepTerminated, kubeletAttach } from './procedures/settings.ts';
import type { Seed } from './seed.ts';

export const seeds: readonly Seed[] = [
  serialLifecycle,
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
  failedSteps,
  deletedByHand,
  detachStalls,
  division,
  orphanedLock,
  hangingMount,
  sameNodeRecreate,
  statusFields,
  walkBinding,
  walkPhases,
  detachGate,
  noAttach,
  sharedMount,
  twoNodesAttach,
  keepTerminated,
  kubeletAttach,
].toSorted((a, b) => a.number - b.number);
