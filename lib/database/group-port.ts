/** The port to a database of several servers that replicate among themselves: their pods, and what each holds. */
import type { Scenario } from '../experiment/scenario.ts';

/** Their pods. */
export interface GroupTemplate {
  /** Name of their controller and service, and in their names and labels. */
  readonly name: string;
  /** What of group.yaml is the database's own to fill in; `groupId` is a UUID. */
  values(
    image: string,
    scenario: Scenario,
    groupId: string,
  ): Readonly<Record<string, string | number>>;
}

/** What one member holds. */
export interface LedgerReading {
  readonly node: string;
  readonly rows: number;
  /** CHECKSUM TABLE of the ledger and of the accounts. */
  readonly checksums: readonly string[];
  /** @@gtid_executed. */
  readonly gtids: string;
  /** Part of these beyond the set that it was asked to have; `` for nothing. */
  readonly beyond: string;
}
