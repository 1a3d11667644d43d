/** Three servers that replicate among themselves, a volume each: nothing moves. Its settings, as its servers name them. */
import { z } from 'zod';
import { choice, seconds, whole } from '../field.ts';
import type { DatabaseDeclaration } from './kind.ts';

/** So many servers make a group that survives the loss of one. */
export const groupSize = 3;

/** Defaults are those of MySQL 9.7; what servers take, of the first time a day, which is all that a run can wait. */
const groupFields = {
  consistency: choice(
    ['EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER', 'BEFORE', 'AFTER', 'BEFORE_AND_AFTER'],
    'BEFORE_ON_PRIMARY_FAILOVER',
    { about: 'group_replication_consistency: what a transaction waits for' },
  ),
  // A member without a majority leaves the group after so long; its waiting transactions are rolled back.
  majorityTimeout: seconds(86_400, 0, {
    about: 'group_replication_unreachable_majority_timeout; 0: no limit',
  }),
  exitAction: choice(['READ_ONLY', 'OFFLINE_MODE', 'ABORT_SERVER'], 'OFFLINE_MODE', {
    about: 'group_replication_exit_state_action: what a member does after it is expelled or leaves',
  }),
  // 5 minutes apart.
  autorejoinTries: whole([0, 2016], 3, {
    about: 'group_replication_autorejoin_tries, before the exit action',
  }),
  // Beyond the 5 s until a suspicion.
  expelTimeout: seconds(3600, 5, { about: 'group_replication_member_expel_timeout' }),
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
  takes: { 'fault.kind': ['network-partition', 'node-crash', 'freeze'] },
  only: {
    fields: [
      ...['fault.kind', 'load.rate', 'load.connections', 'database.trxCommit'],
      ...['kubernetes.version', 'kubernetes.featureGates'],
      ...['timers.grace', 'timers.toleration', 'timers.forceDetachAfter'],
      ...['watch.warmup', 'watch.overlap', 'watch.patience', 'watch.horizon', 'watch.converge'],
    ],
    because: 'no volume moves, nobody does anything, and nothing else was measured',
  },
} as const satisfies DatabaseDeclaration;

/** A group's settings as its servers take them. */
export const groupSettingsSchema = z.strictObject({
  consistency: groupFields.consistency.schema,
  majorityTimeoutS: z.number().default(0),
  exitAction: groupFields.exitAction.schema,
  autorejoinTries: groupFields.autorejoinTries.schema,
  expelTimeoutS: z.number().default(5),
});
export type GroupSettings = Readonly<z.output<typeof groupSettingsSchema>>;

/** A scenario, of which its group's fields are read. */
interface OnGroup {
  readonly database: {
    readonly [Key in keyof typeof groupFields]: z.output<(typeof groupFields)[Key]['schema']>;
  };
}

export const groupSettingsOf = ({ database }: OnGroup): GroupSettings => ({
  consistency: database.consistency,
  majorityTimeoutS: database.majorityTimeout / 1000,
  exitAction: database.exitAction,
  autorejoinTries: database.autorejoinTries,
  expelTimeoutS: database.expelTimeout / 1000,
});
