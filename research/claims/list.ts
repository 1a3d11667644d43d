/** All claims, by number: whatever has one among what these files export. */
import * as attachGate from './items/attach-gate.ts';
import * as directories from './items/directories.ts';
import * as eviction from './items/eviction.ts';
import * as forceDetach from './items/force-detach.ts';
import * as mounting from './items/mounting.ts';
import * as heartbeat from './items/heartbeat.ts';
import * as secondWriter from './items/second-writer.ts';
import * as stalls from './items/stalls.ts';
import * as watchers from './items/watchers.ts';
import * as attachments from './procedures/attachments.ts';
import * as kubelet from './procedures/kubelet.ts';
import * as provisioning from './procedures/provisioning.ts';
import * as secondPods from './procedures/second-pods.ts';
import * as settings from './procedures/settings.ts';
import type { Claim } from './claim.ts';

const files = [
  ...[attachGate, directories, eviction, forceDetach, mounting, heartbeat, secondWriter, stalls],
  ...[watchers, attachments, kubelet, provisioning, secondPods, settings],
];

export const claims: readonly Claim[] = files
  .flatMap((file) => Object.values<Claim | object>(file))
  .filter((each) => 'number' in each)
  .toSorted((a, b) => a.number - b.number);
