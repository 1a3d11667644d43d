/** Claim 8: a lost node's volume is detached by force after six minutes. */
import { toldInSeconds } from '../../../lib/core/index.ts';
import {
  allSeen,
  firstOf,
  firstSeen,
  recordLines,
  onVictim,
  watchLateMs,
  type RecordedRun,
} from '../recorded-run.ts';
import { type ObservationRecord, observed } from '../../../lib/history/index.ts';
import { finishedPodsLetGo } from '../procedures/attachments.ts';
import type { Claim } from '../claim.ts';
import type { ClaimReading } from '../reading.ts';

export const forceDetach: Claim = {
  number: 8,
  title: 'Six-minute force detach',
  statement:
    'When a node does not unmount for 6 minutes, the controller detaches its volume by force.',
  expected:
    'Holds, counted from the moment when no pod there needs the volume (the pod object is gone, or the ' +
    'kubelet ended the pod: phase Failed or Succeeded), and only while the node is not Ready; ' +
    '`--disable-force-detach-on-timeout` switches it off. Log and ' +
    'counter also tell of volumes that were unmounted already: mounts decide.',
  runs: [
    'network-partition --remedy force-delete',
    'node-crash --remedy force-delete',
    'network-partition --remedy force-delete --force-detach off',
  ],
  read,
  procedure: finishedPodsLetGo,
};

/** From the controller's decision to the end of the detach. */
const slackMs = 10_000;

function read(run: RecordedRun): ClaimReading {
  const gone = firstOf(run, 'pod-gone');
  const detached = firstOf(run, 'detached');
  const log = firstSeen(run, observed.forceDetachLog, ({ data }) =>
    String(data.line).includes('maxWaitForUnmountDuration expired'),
  );
  const { timers, also } = run.story.scenario;
  if (also.kind !== 'none') return 'a fault of the control plane moved the timer';
  if (timers.forceDetach === 'off' && gone !== undefined) return switchedOff(run, gone, detached);
  if (!gone || !detached || !log) return 'nothing was detached by force for the timer’s sake';
  const waitedMs = detached.t - gone.t;
  const ready = allSeen(run, observed.nodeReady, onVictim(run)).findLast(({ t }) => t <= log.t);
  const unmounted = firstOf(run, 'unmounted');
  const mounted = unmounted === undefined || unmounted.t > log.t;
  const metric = allSeen(run, observed.forceDetachMetric).at(-1);
  // In a cluster of several runs the counter is nobody's alone.
  const counter = metric === undefined ? '' : `; the counter says ${metric.data.timeout}`;
  const inTime =
    waitedMs >= timers.forceDetachAfter - watchLateMs &&
    waitedMs <= timers.forceDetachAfter + slackMs;
  return {
    asExpected: inTime && ready?.data.status !== 'True',
    said:
      `The VolumeAttachment was gone ${toldInSeconds(waitedMs)} after the pod object (the ` +
      `timer is ${toldInSeconds(timers.forceDetachAfter)}); the node was ` +
      `${String(ready?.data.reason)}; the victim had the volume ` +
      `${mounted ? 'still mounted' : 'no longer mounted, though the log calls it unsafe'}${counter}.`,
    evidence: recordLines(run, [ready, gone, log, detached, metric]),
  };
}

/** With the controller manager's own flag against it. */
function switchedOff(
  run: RecordedRun,
  gone: ObservationRecord,
  detached: ObservationRecord | undefined,
): ClaimReading {
  const never = detached === undefined || detached.t >= run.story.healAtMs;
  return {
    asExpected: never,
    said:
      `With --disable-force-detach-on-timeout: ${never ? 'not detached' : 'detached'} in ` +
      `the ${toldInSeconds(run.story.healAtMs - gone.t)} after the pod object was gone.`,
    evidence: recordLines(run, [gone, detached]),
  };
}
