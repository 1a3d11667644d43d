/** What is judged of a database: how it is called, what its log says, what its commits promise, its own checks. */
import type { AuditedImage, Checker } from './checkers/checker.ts';
import type { ImageEvidence, LedgerEntry, OpId } from '../history/index.ts';
import type { CommandEvidence } from '../core/index.ts';
import type { DatabaseChoice } from '../scenario/index.ts';

export interface JudgedDatabase {
  /** Name of its image, its folder of manifests, its pod, container and service, and in versions: `mysql`. */
  readonly name: string;
  /** Name as people write it: `MySQL`. */
  readonly title: string;
  /** Its server's program; so are called its process, its log's observer, and its lanes: `mysqld`. */
  readonly server: string;
  readonly log: ServerLog;
  readonly durability: Durability;
  /** Every commit is promised, and no more than that is asked of the server. */
  readonly leastAsked: DatabaseChoice;
  readonly tools: {
    /** Checks the tables of a running server, which it may crash. */
    readonly checkTable: string;
    /** Checks its files without a server. */
    readonly offline: string;
    /** Findings that say once more, by another witness, which commits are there. */
    readonly secondWitnesses: readonly string[];
    /** Who tells an operator, by the code of the finding; in the order in which they are told. */
    readonly byFinding: Readonly<Record<string, string>>;
  };
  readonly own: OwnPart;
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
}

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
  /** The storage engine's own lines, and those of a server that it ends. */
  readonly ofStorage: RegExp;
  /** Lines that prove damage. Other errors prove nothing: the storage's own leave a verdict open. */
  readonly damage: RegExp;
  /** Tells of a torn page that crash recovery mends: no damage where the start then succeeds. */
  readonly mended: RegExp;
  /** Errors of a living server that prove damage; all others are the machine's, or nobody's. */
  readonly refusals: RegExp;
  /** Errors of a login that do. */
  readonly logins: RegExp;
  /** Whole lines that the model lets its server say, without their level. */
  readonly modelled: {
    /** Another server has its files. */
    readonly locked: string;
    /** Its own logs are replayed. */
    readonly recovered: string;
  };
}

export interface OwnAsked {
  readonly wholeWorkload: boolean;
  readonly settings: DatabaseChoice;
  /** Evidence of the run's other images. */
  readonly others: readonly ImageEvidence[];
}

export interface ModelledVolume {
  readonly rows: readonly LedgerEntry[];
  readonly balances: Readonly<Record<number, number>>;
  readonly settings: DatabaseChoice;
  readonly serverUuid: string;
  readonly isSchemaChanged: boolean;
  readonly notModelled: (command: string) => CommandEvidence;
}

/** What a database adds to an audit. */
export interface OwnPart {
  /** Beside those that every database has. */
  readonly checks: readonly Checker[];
  /** Parts of its own audit that are missing, in words. */
  gaps(evidence: ImageEvidence, asked: OwnAsked): readonly string[];
  /** Its own tools that could not look, and what they said instead. */
  unanswered(evidence: ImageEvidence): readonly { readonly what: string; readonly said: string }[];
  /** Its own log of transactions and the table have the same rows of this one's session. */
  logHas(op: OpId, audited: AuditedImage): boolean;
  /** What its own readings say against each other or against the rows. */
  contradictions(audited: AuditedImage): readonly string[];
  /** On the model: keys of evidence that a server has where nothing is wrong. */
  modelled(volume: ModelledVolume): object;
}

/** The one whose runs do not name it in their histories. */
export const stockDatabaseName = 'mysql';
