/** What is asked of a replication group: its own settings, as its servers name them. */
import { z } from 'zod';
import type { Scenario } from '../experiment/scenario.ts';
import { choice, seconds, shapeOf, whole } from '../fields/field.ts';

export const groupFaults = ['network-partition', 'node-crash', 'freeze'] as const;

/** Defaults are those of MySQL 9.7; what servers take, of the first time a day, which is all that a run can wait. */
export const groupFields = {
  consistency: choice(
    'group.consistency',
    ['EVENTUAL', 'BEFORE_ON_PRIMARY_FAILOVER', 'BEFORE', 'AFTER', 'BEFORE_AND_AFTER'],
    'BEFORE_ON_PRIMARY_FAILOVER',
    {
      flags: '--consistency <level>',
      about: 'group_replication_consistency: what a transaction waits for',
    },
  ),
  // A member without a majority leaves the group after so long; its waiting transactions are rolled back.
  majorityTimeoutS: seconds('group.majorityTimeout', [0, 86_400], 0, {
    flags: '--majority-timeout <time>',
    about: 'group_replication_unreachable_majority_timeout; 0: for ever',
  }),
  exitAction: choice(
    'group.exitAction',
    ['READ_ONLY', 'OFFLINE_MODE', 'ABORT_SERVER'],
    'OFFLINE_MODE',
    {
      flags: '--exit-action <action>',
      about:
        'group_replication_exit_state_action: what a member does once it was thrown out or left',
    },
  ),
  // 5 minutes apart.
  autorejoinTries: whole('group.autorejoinTries', [0, 2016], 3, {
    flags: '--autorejoin-tries <n>',
    about: 'group_replication_autorejoin_tries, before the exit action',
  }),
  // Beyond the 5 s until a suspicion.
  expelTimeoutS: seconds('group.expelTimeout', [0, 3600], 5, {
    flags: '--expel-timeout <time>',
    about: 'group_replication_member_expel_timeout',
  }),
};
export const groupSettingsSchema = z.strictObject(shapeOf(groupFields));
export type GroupSettings = Readonly<z.output<typeof groupSettingsSchema>>;

/** A run: the scenario's fault, clients and timers, on a group with these settings. */
export interface GroupScenario {
  readonly scenario: Scenario;
  readonly settings: GroupSettings;
}

/** So many servers make a group that survives the loss of one. */
export const groupSize = 3;
