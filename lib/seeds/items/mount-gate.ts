/** Seed 6: kubelet mounts nothing that is not attached to its node. */
import { toldInSeconds } from '../../durations.ts';
import { callsOf, linesOf, type FinishedRun } from '../finished-run.ts';
import { observed } from '../../history/observations.ts';
import type { ObservationRecord } from '../../history/events.ts';
import type { Reading, Seed } from '../seed.ts';

export const mountGate: Seed = {
  number: 6,
  title: 'Mount gate',
  claim: 'Kubelet confirms that a volume is attached before it mounts it.',
  expected:
    'Holds: no NodeStage before the volume is in the node’s volumesAttached, and it is ' +
    'in volumesInUse by then.',
  runs: ['network-partition --remedy force-delete'],
  read,
};

function read(run: FinishedRun): Reading {
  const staged = callsOf(run, 'stage').find(({ node }) => node !== run.victimNode);
  if (staged === undefined) return 'no other node staged the volume';
  const handle = String(staged.data['volume']);
  const listed = (name: string): ObservationRecord | undefined =>
    run.story.observations.find(
      (seen) =>
        seen.name === name &&
        seen.node === staged.node &&
        JSON.stringify(seen.data['volumes']).includes(handle),
    );
  const [attached, inUse] = [listed(observed.volumesAttached), listed(observed.volumesInUse)];
  if (!attached || !inUse) return 'the lists of the node’s status were not seen';
  const waitedMs = attached.t - inUse.t;
  const waited =
    waitedMs > 0 ? `kubelet waited ${toldInSeconds(waitedMs)} for the attach` : 'no wait';
  return {
    asExpected: attached.t <= staged.t && inUse.t <= staged.t,
    said:
      `NodeStage came ${toldInSeconds(staged.t - attached.t)} after volumesAttached and ` +
      `${toldInSeconds(staged.t - inUse.t)} after volumesInUse; ${waited}.`,
    evidence: linesOf(run, [inUse, attached, staged]),
  };
}
