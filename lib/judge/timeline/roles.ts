/** Who is who in a run: by what records of the victim, of the successor and of their pods are known. */
import type { JudgedDatabase } from '../database.ts';
import type { ObservationRecord } from '../../history/index.ts';
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
  /** Part of a server's log line: it answers clients. */
  readonly readySign: string;
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
  ofPod: ({ data }) => uid !== undefined && data.uid === uid,
});

/** Roles of a whole run: whoever is not its victim takes over. */
export const rolesIn = ({
  victimNode,
  victimUid,
  database,
}: Pick<Story, 'victimNode' | 'victimUid' | 'database'>): Roles =>
  rolesOf({ node: victimNode, uid: victimUid }, database);

/** `successor`: the node that takes over. Default: whichever is not the victim. */
export function rolesOf(
  victim: KnownPod,
  { log }: Pick<JudgedDatabase, 'log'>,
  successor?: string,
): Roles {
  const isThere = (node: string | undefined): boolean =>
    successor === undefined ? node !== victim.node : node === successor;
  return {
    readySign: log.signs.ready,
    victim: roleOf(victim),
    successor: {
      onNode: ({ node }) => node !== undefined && isThere(node),
      ofPod: ({ node, data }) => data.uid !== victim.uid && isThere(node),
    },
  };
}
