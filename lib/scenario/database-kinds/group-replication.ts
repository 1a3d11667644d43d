/** Three servers that replicate among themselves, a volume each: nothing moves. Its settings, as its servers name them. */
import { z } from 'zod';
import { choice, seconds, shapeOf, sparse, whole } from '../fields/field.ts';
import type { DatabaseDeclaration } from './kind.ts';

/** So many servers make a group that survives the loss of one. */
export const groupSize = 3;

const of = ['group-replication'] as const;

/** Defaults are those of MySQL 9.7; what servers take, of the first time a day, which is all that a run can wait. */
const groupFields = {
  consistency: sparse(
    choice(
      'database.consistency',
      ['EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER', 'BEFORE', 'AFTER', 'BEFORE_AND_AFTER'],
      'BEFORE_ON_PRIMARY_FAILOVER',
      {
        about: 'group_replication_consistency: what a transaction waits for',
        of,
      },
    ),
  ),
  // A member without a majority leaves the group after so long; its waiting transactions are rolled back.
  majorityTimeoutS: sparse(
    seconds('database.majorityTimeout', [0, 86_400], 0, {
      about: 'group_replication_unreachable_majority_timeout; 0: no limit',
      of,
    }),
  ),
  exitAction: sparse(
    choice('database.exitAction', ['READ_ONLY', 'OFFLINE_MODE', 'ABORT_SERVER'], 'OFFLINE_MODE', {
      about:
        'group_replication_exit_state_action: what a member does after it is expelled or leaves',
      of,
    }),
  ),
  // 5 minutes apart.
  autorejoinTries: sparse(
    whole('database.autorejoinTries', [0, 2016], 3, {
      about: 'group_replication_autorejoin_tries, before the exit action',
      of,
    }),
  ),
  // Beyond the 5 s until a suspicion.
  expelTimeoutS: sparse(
    seconds('database.expelTimeout', [0, 3600], 5, {
      about: 'group_replication_member_expel_timeout',
      of,
    }),
  ),
};

export const groupReplication = {
  name: 'group-replication',
  is: `${groupSize} servers that replicate among themselves, each on a node and a volume of its own: another one takes over, and no volume moves ([group replication](../results/group-replication.md); measured only)`,
  question:
    'The primary of a replication group is cut off: how long do clients wait, and what is lost?',
  expected: {
    verdict: 'safe',
    because:
      'most of the members have a commit before it is acknowledged, and go on without the primary',
  },
  needs: ['replication-group'],
  fields: groupFields,
  takes: { fault: ['network-partition', 'node-crash', 'freeze'] },
  only: {
    fields: [
      ...['fault', 'rate', 'connections', 'trxCommit', 'kubernetes', 'featureGates'],
      ...['graceMs', 'tolerationMs', 'forceDetachAfterMs'],
      ...['warmupMs', 'overlapMs', 'patienceMs', 'horizonMs', 'convergeMs'],
    ],
    because: 'no volume moves, nobody does anything, and nothing else was measured',
  },
} as const satisfies DatabaseDeclaration;

const said = z.strictObject(shapeOf(groupFields));

/** All of them. */
export type GroupSettings = Readonly<{
  [Name in keyof typeof groupFields]-?: NonNullable<z.output<typeof said>[Name]>;
}>;

/** What is not said has its default. */
export const groupSettingsOf = (
  from: Partial<Record<keyof GroupSettings, unknown>>,
): GroupSettings =>
  Object.fromEntries(
    Object.entries(groupFields).map(([name, { stock }]) => [
      name,
      from[name as keyof GroupSettings] ?? stock,
    ]),
  ) as GroupSettings;

export const groupSettingsSchema = said.transform(groupSettingsOf);
