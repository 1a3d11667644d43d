/**
 * The port to a database: what everybody else knows of the one that is measured. Its words, its pod,
 * what its log says. `lib/mysql` implements it; chosen.ts is the one place that says so.
 */
import type { Scenario } from '../experiment/scenario.ts';

/** What is known of a database without a server of it; the same for a cluster and for the model. */
export interface Database {
  /** Of its image, its folder of manifests, its pod, container and service, and in versions: `mysql`. */
  readonly name: string;
  /** As people write it: `MySQL`. */
  readonly title: string;
  /** Its server's program; so are called its process, its log's observer, and its lanes: `mysqld`. */
  readonly server: string;
  readonly pod: DatabaseTemplate;
  readonly log: ServerLog;
  readonly durability: Durability;
}

/** What its commits promise under a choice of settings, and how people are told. */
export interface Durability {
  /** Each acknowledged commit is on the disk. */
  keepsAll(choice: Pick<DatabaseChoice, 'trxCommit'>): boolean;
  /** What a living server has acknowledged in this time it may not have given to the disk yet. */
  heldBackMs(choice: Pick<DatabaseChoice, 'trxCommit'>): number;
  /** Settings that are not stock, each as a condition: `X runs with …`. */
  unusual(choice: Pick<DatabaseChoice, 'trxCommit'>): readonly string[];
  /** One sentence for who lost commits that were acknowledged too early. */
  readonly advice: string;
  /** Why power loss may leave a page torn although nothing was acknowledged early. */
  readonly tornBecause: string;
}

/** Its pod: `manifests/<name>` has the template, and what is not here is asked of nobody. */
export interface DatabaseTemplate {
  /** Where its container has the volume. */
  readonly dataFolder: string;
  /** It answers clients there. */
  readonly port: number;
  /** What of pod.yaml is the database's own to fill in. */
  values(image: string, choice: DatabaseChoice): Readonly<Record<string, string | number>>;
}

/** What a scenario says about the server's durability. */
export type DatabaseChoice = Pick<Scenario, 'trxCommit' | 'binlog'>;

/** What lines of the server's log mean. */
export interface ServerLog {
  /** Lines worth recording: ends and beginnings, and all that is worse than a note. */
  readonly kept: RegExp;
  /** Parts of a line by what they tell. */
  readonly signs: {
    readonly error: string;
    /** It answers clients from now on. */
    readonly ready: string;
    /** It has ended by itself, cleanly. */
    readonly stopped: string;
  };
  /** Whole lines that the model lets its server say, without their level. */
  readonly modelled: {
    /** Another server has its files. */
    readonly locked: string;
    /** Its own logs are replayed. */
    readonly recovered: string;
  };
}
