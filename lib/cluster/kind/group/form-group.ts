/** Makes one group of servers that know nothing of each other yet. */
import {
  askView,
  bootstrapGroup,
  joinGroup,
  prepareMember,
  viewOf,
  type MemberClient,
} from '../../../database/group.ts';
import { InfrastructureError } from '../../../errors.ts';
import { hasQuorum } from '../../../group-replication/views.ts';
import { waitFor } from '../wait.ts';
import { groupSelector } from './group-database.ts';

export interface NewMember {
  readonly ip: string;
  readonly client: MemberClient;
}

/** The first becomes the primary. Resolves once each of them sees all of them online. */
export async function formGroup(
  members: readonly NewMember[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const addresses = members.map(({ ip }) => ip);
  for (const { client } of members) await say(client, prepareMember(addresses));
  const [first, ...others] = members;
  if (first !== undefined) await say(first.client, bootstrapGroup);
  await Promise.all(others.map(({ client }) => say(client, joinGroup)));
  const what = `all ${members.length} members are online`;
  await waitFor({ what, timeoutMs: 60_000, signal }, async () => {
    for (const { client } of members) {
      const view = viewOf(await client.query(askView));
      const online = view.members.filter(({ state }) => state === 'ONLINE').length;
      if (!hasQuorum(view) || online < members.length) return `${view.node} sees ${online}`;
    }
    return true;
  });
}

async function say(client: MemberClient, statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    await client.query(statement).catch((cause: unknown) => {
      throw new InfrastructureError('GROUP_NOT_FORMED', `a member refused: ${statement}`, {
        hint: 'its error log says why',
        command: `kubectl logs --selector ${groupSelector} --prefix --tail 30`,
        cause,
      });
    });
  }
}
