/** What is asked of a replication group: its own settings, as its servers name them. */
import { z } from 'zod';
import type { Scenario } from '../experiment/scenario.ts';

export const groupFaults = ['network-partition', 'node-crash', 'freeze'] as const;
export const consistencies = [
  'EVENTUAL',
  'BEFORE_ON_PRIMARY_FAILOVER',
  'BEFORE',
  'AFTER',
  'BEFORE_AND_AFTER',
] as const;
export const exitActions = ['READ_ONLY', 'OFFLINE_MODE', 'ABORT_SERVER'] as const;

/** What servers take; of the first a day, which is all that a run can wait. */
export const mostMajorityTimeoutS = 86_400;
export const mostExpelTimeoutS = 3600;
export const mostAutorejoinTries = 2016;

/** Defaults are those of MySQL 9.7. */
export const groupSettingsSchema = z.strictObject({
  /** group_replication_consistency: what a transaction waits for. */
  consistency: z.enum(consistencies).default('BEFORE_ON_PRIMARY_FAILOVER'),
  /**
   * group_replication_unreachable_majority_timeout, seconds: a member without a majority leaves the
   * group after so long, and its waiting transactions are rolled back; 0: it waits for ever.
   */
  majorityTimeoutS: z.number().int().min(0).max(mostMajorityTimeoutS).default(0),
  /** group_replication_exit_state_action: what a member does once it was thrown out or left. */
  exitAction: z.enum(exitActions).default('OFFLINE_MODE'),
  /**
   * group_replication_autorejoin_tries: so often, 5 min apart, a member that was thrown out or left
   * tries to join before it takes its exit action.
   */
  autorejoinTries: z.number().int().min(0).max(mostAutorejoinTries).default(3),
  /** group_replication_member_expel_timeout, seconds, beyond the 5 s until a suspicion. */
  expelTimeoutS: z.number().int().min(0).max(mostExpelTimeoutS).default(5),
});
export type GroupSettings = Readonly<z.output<typeof groupSettingsSchema>>;

/** A run: the scenario's fault, clients and timers, on a group with these settings. */
export interface GroupScenario {
  readonly scenario: Scenario;
  readonly settings: GroupSettings;
}

/** So many servers make a group that survives the loss of one. */
export const groupSize = 3;
