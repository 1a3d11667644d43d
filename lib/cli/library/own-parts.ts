/** Helpers for a fault or a database of one's own; remedies and checkers are plain objects. */
import { able, type Capability } from '../../core/index.ts';
import type { LedgerEntry } from '../../history/index.ts';
import type { AuditedImage, Checker, Finding, OwnPart, ServerLog } from '../../judge/index.ts';
import { mysql } from '../../mysql/index.ts';
import {
  lastingFault,
  type CustomFault,
  type LastingFault,
  type CustomDatabase,
  type Database,
  type FaultContext,
  type OutOfBandShell,
} from '../../run/index.ts';
import { heartbeatMs } from '../../scenario/index.ts';

export interface CustomLastingFault<C extends Capability = never>
  extends Pick<CustomFault<C>, 'name' | 'like' | 'needs'>,
    LastingFault<NoInfer<C>> {}

/** A fault that breaks something at once, lasts, and gives it back at the heal. */
export const customFault = <const C extends Capability = never>({
  name,
  like,
  needs = [],
  ...lasting
}: CustomLastingFault<C>): CustomFault<C> => ({
  ...lastingFault({ name, needs, leastMs: heartbeatMs }, lasting),
  ...{ like, needs },
});

/** The victim's, for a fault that `needs` the node shell. Throws as `able`. */
export const victimShell = ({
  testbed,
  victim,
}: Pick<FaultContext, 'testbed' | 'victim'>): OutOfBandShell =>
  able(testbed, 'testbed', ['node-shell']).shell(victim.node);

/** One check of what the database's own audit read of one copy. */
export interface OwnCheck<Own> {
  /** Lower-case letters, digits and dashes; no other check of the run has it. */
  readonly name: string;
  /** Answers as a `Checker`'s does; not asked where the copy could not be audited: that is a finding already. */
  readonly check: (own: Own, image: AuditedImage) => readonly Finding[];
}

/** `Own` is what its own audit reads, as JSON: it is recorded, and read back before it is checked. */
export interface OwnDatabase<Own> extends Pick<Database, 'name' | 'title' | 'server'> {
  /** How its commits reach the disk: as the built-in database's, set so. Default: each before it is acknowledged. */
  readonly like?: CustomDatabase['like'];
  /** The rest: no line reports pages that recovery mends, and no answer is an error. */
  readonly log: Pick<ServerLog, 'signs' | 'damage' | 'modelled'> & Partial<ServerLog>;
  /** What one may do who lost commits that were acknowledged too early, one sentence. */
  readonly advice?: string;
  /** Names of tools and of what tells an operator of which finding. Default: the server tells of its own end. */
  readonly tools?: Partial<Database['tools']>;
  /** Where its container has the volume. Default `/var/lib/NAME`. */
  readonly dataFolder?: string;
  /**
   * What its own audit would read of these commits, in the order of the copy, and of the balances of their
   * accounts; of copies only on which the server starts.
   */
  readonly audit: (rows: readonly LedgerEntry[], balances: Readonly<Record<number, number>>) => Own;
  /** Asked of each copy among our own checks. Default: none. */
  readonly checks?: readonly OwnCheck<Own>[];
  /** Parts of the audit that are not there, in words; without them no verdict is `safe`. Default: none. */
  readonly missing?: (own: Own) => readonly string[];
}

const never = /(?!)/;
const modelLog = { kept: /(?:)/, ofStorage: never, mended: never, refusals: never, logins: never };

/** A database for `experiment` on `simulated()`. Its name is refused there, as a fault's, where it cannot be one. */
export function customDatabase<Own>(of: OwnDatabase<Own>): CustomDatabase {
  const { name, title, server, like, log, dataFolder = `/var/lib/${name}` } = of;
  const { durability, leastAsked, pod } = mysql;
  return {
    ...{ name, title, server, leastAsked },
    ...(like && { like }),
    // Only a real cluster asks for the port and the template.
    pod: { dataFolder, port: pod.port, values: () => ({}) },
    log: { ...modelLog, ...log },
    durability: {
      ...durability,
      unusual: (choice) =>
        durability.keepsAll(choice)
          ? []
          : [`${title} acknowledges commits before they are on the disk`],
      advice: of.advice ?? `Have ${title} acknowledge only what is on disk.`,
    },
    tools: {
      checkTable: `${title}’s own checks`,
      offline: `checks of ${title}’s files`,
      secondWitnesses: [],
      byFinding: {
        ...{ SERVER_CANNOT_START: server, SERVER_DIED: server, ERROR_LOG_DAMAGE: server },
        ...{ SQL_REFUSED: server, LEDGER_UNREADABLE: title },
      },
      ...of.tools,
    },
    own: ownPartOf(of),
  };
}

const ownPartOf = <Own>({ title, audit, checks = [], missing }: OwnDatabase<Own>): OwnPart => ({
  checks: checks.map(
    ({ name, check }): Checker => ({
      name,
      check: (image) =>
        image.evidence.own === undefined ? [] : check(image.evidence.own as Own, image),
    }),
  ),
  gaps: ({ own }) =>
    own === undefined ? [`no audit of ${title}’s own`] : (missing?.(own as Own) ?? []),
  unanswered: () => [],
  contradictions: () => [],
  logHas: () => false,
  modelled: ({ rows, balances }) => ({ own: audit(rows, balances) }),
});
