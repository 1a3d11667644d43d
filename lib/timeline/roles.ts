/** Who is who in a run: by what records of the victim, of the successor and of their pods are known. */
import type { ObservationRecord } from '../history/events.ts';
import type { Story } from './story.ts';

type Fits = (seen: Pick<ObservationRecord, 'node' | 'data'>) => boolean;

/** A node, and its pod. */
interface RoleTest {
  readonly onNode: Fits;
  readonly ofPod: Fits;
}

export interface Roles {
  readonly victim: RoleTest;
  readonly successor: RoleTest;
  /** The volume's handle: a node's lists name those of other runs as well. */
  readonly volume?: string | undefined;
}

/** What is unknown is in no record. */
interface KnownPod {
  readonly node: string | undefined;
  readonly uid: string | undefined;
}

export const roleOf = ({ node: name, uid }: KnownPod): RoleTest => ({
  onNode: ({ node }) => node !== undefined && node === name,
  ofPod: ({ data }) => uid !== undefined && data['uid'] === uid,
});

/** Roles of a whole run: whoever is not its victim takes over. */
export const rolesIn = ({
  victimNode,
  victimUid,
}: Pick<Story, 'victimNode' | 'victimUid'>): Roles => rolesOf({ node: victimNode, uid: victimUid });

/** `successor`: the node that takes over. Default: whichever is not the victim. */
export function rolesOf(victim: KnownPod, successor?: string): Roles {
  const isThere = (node: string | undefined): boolean =>
    successor === undefined ? node !== victim.node : node === successor;
  return {
    victim: roleOf(victim),
    successor: {
      onNode: ({ node }) => node !== undefined && isThere(node),
      ofPod: ({ node, data }) => data['uid'] !== victim.uid && isThere(node),
    },
  };
}
