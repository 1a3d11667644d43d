/** The volume came back to the node that it was taken from: by the mount it had, or by a new one. */
import { note } from '../../checkers/findings.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { Story } from '../../timeline/story.ts';
import type { Finding } from './verdict.ts';

export const wayBack = { old: 'OLD_MOUNT_USED', anew: 'MOUNTED_ANEW' } as const;

/** Nothing where no pod was given the volume on the victim after the heal. */
export function wayBackFindings({
  scenario,
  observations,
  victimNode,
  faultAtMs,
  healAtMs,
}: Story): Finding[] {
  if (!scenario.moveBack || victimNode === undefined || faultAtMs === undefined) return [];
  const calls = observations.filter(
    ({ t, name, node, data }) =>
      t >= faultAtMs &&
      name === observed.csiCall &&
      node === victimNode &&
      data['error'] === undefined,
  );
  const given = calls.find(({ t, data }) => t >= healAtMs && data['call'] === csiCalls.nodePublish);
  if (given === undefined) return [];
  const staging: readonly unknown[] = [csiCalls.stage, csiCalls.unstage];
  const before = calls.filter(({ t, data }) => t <= given.t && staging.includes(data['call']));
  const after = (t: number): string => `${((t - faultAtMs) / 1000).toFixed(1)} s after the fault`;
  const told = before.map(({ t, data }) => `${String(data['call'])} ${after(t)}`);
  const evidence = [`${csiCalls.nodePublish} on ${victimNode}, ${after(given.t)}`];
  const [code, summary, more] =
    before.length === 0
      ? ([
          wayBack.old,
          oldMount,
          [`no ${csiCalls.unstage} and no ${csiCalls.stage} since the fault`],
        ] as const)
      : ([wayBack.anew, 'back on the victim, the volume was mounted anew', told] as const);
  // No event, probe or log tells of it.
  return [{ ...note(code, summary, [...evidence, ...more]), loud: false }];
}

const oldMount = 'back on the victim, the pod was given the mount from before the fault';
