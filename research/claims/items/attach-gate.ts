/** Claims 22 and 24: the Multi-Attach error on a node's death, and the mode that switches it off. */
import { isDirectory } from '../../../lib/scenario/index.ts';
import { attachGateTexts, observed, type ObservationRecord } from '../../../lib/history/index.ts';
import { firstAfterFault } from '../../../lib/judge/index.ts';
import {
  allSeen,
  firstOf,
  recordLines,
  since,
  underFault,
  type RecordedRun,
} from '../recorded-run.ts';
import type { Claim } from '../claim.ts';

export const multiAttach: Claim = {
  number: 22,
  title: 'Multi-Attach error when a node shuts down',
  statement:
    'The replacement pod cannot start: “Multi-Attach error for volume … Volume is ' +
    'already used by pod(s)”.',
  expected:
    'Holds for a Deployment, and for a StatefulSet whose pod was removed: ' +
    'FailedAttachVolume, once per volume, node and life of a controller manager, also as “already ' +
    'exclusively attached to one node”; since 1.37 it begins “Waiting for detach”. A StatefulSet ' +
    'left alone has no replacement and no event.',
  runs: [
    'node-crash --remedy force-delete',
    'node-crash --remedy none --workload deployment-recreate',
    'network-partition --remedy none --horizon 900s',
  ],
  read(run) {
    const { volume, also, disk, remedy, workload } = run.story.scenario;
    if (volume.accessMode === 'ReadWriteMany' || isDirectory(disk.mode))
      return 'nothing gates this disk';
    if (remedy.kind === 'out-of-service') return 'the taint detaches before there is a replacement';
    const errors = multiAttachErrors(run).filter(({ t }) => underFault(run, t));
    const replaced = firstAfterFault(run.story, 'bound');
    const first = errors[0];
    const lives = also.kind === 'controller-restart' ? 2 : 1;
    if (replaced === undefined) {
      return {
        asExpected: errors.length === 0,
        said:
          `${workload.kind}: no replacement pod before the heal, and ${errors.length} ` +
          `Multi-Attach events in ${run.verdict.horizonS.toFixed(0)} s.`,
        evidence: recordLines(run, errors),
      };
    }
    return {
      asExpected: errors.length >= 1 && errors.length <= lives,
      said: `${workload.kind}: the replacement was scheduled at ${since(run, replaced.t)}; ${errors.length} event(s)${first === undefined ? '' : ` at ${since(run, first.t)}: “${String(first.data.message)}”`}.`,
      evidence: recordLines(run, [replaced, ...errors]),
    };
  },
};

export const readWriteMany: Claim = {
  number: 24,
  title: 'ReadWriteMany as a workaround',
  statement:
    'Declared ReadWriteMany, the volume attaches elsewhere without the Multi-Attach error.',
  expected:
    'Holds: the second mount comes as soon as there is a second pod, without the six ' +
    'minutes and without a detach. (ceph-csi refuses such file systems.)',
  runs: [
    'network-partition --remedy none --workload deployment-recreate --access-mode ReadWriteMany',
    'network-partition --remedy force-delete --access-mode ReadWriteMany',
  ],
  read(run) {
    const { volume, disk, workload } = run.story.scenario;
    if (volume.accessMode !== 'ReadWriteMany' || isDirectory(disk.mode))
      return 'not declared ReadWriteMany';
    const scheduled = firstOf(run, 'bound');
    const mounted = firstOf(run, 'mounted');
    if (!scheduled || !mounted) return 'no second pod came';
    const errors = multiAttachErrors(run);
    const detached = firstOf(run, 'detached');
    const before = detached === undefined || detached.t > mounted.t;
    return {
      asExpected: errors.length === 0 && before,
      said:
        `${workload.kind}: second pod at ${since(run, scheduled.t)}, second mount ` +
        `${((mounted.t - scheduled.t) / 1000).toFixed(1)} s later, ` +
        `${before ? 'before' : 'after'} any detach; ${errors.length} Multi-Attach ` +
        `events; verdict ${run.verdict.verdict}.`,
      evidence: [
        ...recordLines(run, [scheduled, mounted, ...errors, detached]),
        ...(detached === undefined
          ? ['no record of a VolumeAttachment of the victim’s that is gone']
          : []),
      ],
    };
  },
};

const multiAttachErrors = (run: RecordedRun): ObservationRecord[] =>
  allSeen(
    run,
    observed.event,
    ({ t, data }) =>
      t >= run.faultAtMs &&
      data.reason === 'FailedAttachVolume' &&
      attachGateTexts.some((text) => String(data.message).startsWith(text)),
  );
