/** What the members of a group say of it, and whom a router believes. Pure functions. */

/** One row of performance_schema.replication_group_members, by the member's node. */
export interface Member {
  readonly node: string;
  readonly state: 'ONLINE' | 'RECOVERING' | 'OFFLINE' | 'ERROR' | 'UNREACHABLE';
  /** `` where the one who tells does not know. */
  readonly role: 'PRIMARY' | 'SECONDARY' | '';
}

/** What one server says at one moment. */
export interface GroupView {
  /** Whose view it is. */
  readonly node: string;
  readonly members: readonly Member[];
  readonly superReadOnly: boolean;
  readonly offlineMode: boolean;
}

export const selfIn = (view: GroupView): Member | undefined =>
  view.members.find(({ node }) => node === view.node);

/** The one who tells is in good order, and with most of those whom it counts as members. */
export function hasQuorum(view: GroupView): boolean {
  const present = view.members.filter(({ state }) => state === 'ONLINE' || state === 'RECOVERING');
  return selfIn(view)?.state === 'ONLINE' && present.length * 2 > view.members.length;
}

/** The primary of a view that has a quorum. */
const primaryIn = (view: GroupView): string | undefined =>
  hasQuorum(view)
    ? view.members.find(({ role, state }) => role === 'PRIMARY' && state === 'ONLINE')?.node
    : undefined;

/**
 * Where a router sends writes, given the views of all members that it reaches: to the primary that
 * most of the views with a quorum name. Undefined where none has one.
 */
export function routedPrimary(views: Iterable<GroupView>): string | undefined {
  const votes = new Map<string, number>();
  for (const view of views) {
    const primary = primaryIn(view);
    if (primary !== undefined) votes.set(primary, (votes.get(primary) ?? 0) + 1);
  }
  return [...votes].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
