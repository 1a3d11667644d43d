/** Who is who in a run: the victim and its pod, the successor and its pod. */
import { observed } from '../history/observations.ts';
import type { Story } from '../timeline/story.ts';

export interface Cast {
  readonly victim: string;
  readonly victimUid: string | undefined;
  /** The first other node that mounted the volume, else the first that a new pod was bound to. */
  readonly successor: string | undefined;
  readonly successorUid: string | undefined;
  /** The volume's handle: a node's lists name those of other runs as well. */
  readonly volume: string | undefined;
}

/** Undefined where the run ended before its fault. */
export function castOf({
  observations,
  victimNode,
  victimUid,
  faultAtMs,
}: Story): Cast | undefined {
  if (victimNode === undefined || faultAtMs === undefined) return undefined;
  const elsewhere = (name: string): (typeof observations)[number] | undefined =>
    observations.find(
      (seen) =>
        seen.t >= faultAtMs &&
        seen.name === name &&
        seen.node !== undefined &&
        seen.node !== victimNode,
    );
  const bound = elsewhere(observed.podScheduled);
  const successor = elsewhere(observed.mounted)?.node ?? bound?.node;
  const replacement = observations.find(
    ({ t, name, data }) =>
      t >= faultAtMs && name === observed.podCreated && String(data['uid']) !== victimUid,
  );
  const pod = bound ?? replacement;
  const call = observations.find(({ name }) => name === observed.csiCall);
  return {
    volume: call === undefined ? undefined : String(call.data['volume']),
    ...{ victim: victimNode, victimUid, successor },
    successorUid: pod === undefined ? undefined : String(pod.data['uid']),
  };
}
