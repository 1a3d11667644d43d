/** An experiment as a value: put together from parts, checked, and run as often as wished. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectationFor } from '../../batch/index.ts';
import { type Capability, UsageError, type ExitCode } from '../../core/index.ts';
import {
  type Checker,
  exitCodeOf,
  type Finding,
  type Verdict,
  type VerdictWord,
  type GroupVerdict,
} from '../../judge/index.ts';
import { mysql as stockDatabase } from '../../mysql/index.ts';
import {
  namesOf,
  type Custom,
  type CustomDatabase,
  type CustomFault,
  type CustomRemedy,
} from '../../run/index.ts';
import {
  askedScenario,
  safetyLevels,
  type Scenario,
  settingsOf,
  type WrittenScenario,
  type WrittenGroup,
  combined,
} from '../../scenario/index.ts';
import type { ClusterUnderTest } from './clusters.ts';
import { array, mysql, type DatabasePart, type GroupPart, type StoragePart } from './parts.ts';
import { refuseOwnWithGroup, performRun, planRun, type AnyVerdict } from './run-plan.ts';

/** What a cluster, a storage and a database say is not said again. */
type OwnGroup = 'fault' | 'remedy' | 'disk' | 'volume' | 'database' | 'kubernetes';

/** Beside the parts, the rest of a scenario in its nested form (docs/reference/scenarios.md), such as `load`. */
export interface ExperimentOptions extends Omit<WrittenScenario, OwnGroup> {
  readonly cluster: ClusterUnderTest;
  /** Default `mysql()`. One of your own: `customDatabase`, on `simulated()`. */
  readonly database?: DatabasePart | CustomDatabase;
  /** Default `array()`: unfenced. */
  readonly storage?: StoragePart;
  readonly fault: WrittenGroup<'fault'> | CustomFault<Capability>;
  /** Default: nobody does anything. */
  readonly remedy?: WrittenGroup<'remedy'> | CustomRemedy<Capability>;
  /** Checkers of your own, asked of each image after ours. Default: none. */
  readonly checkers?: readonly Checker[];
  /** Kebab-case. Default: the fault's name. */
  readonly name?: string;
  readonly question?: string;
  /** Verdicts that are no surprise. Default: as reasoned or counted; with a part of your own: open. */
  readonly expected?: readonly VerdictWord[];
}

export interface RunSettings {
  /** Default: drawn. On the model the same seed gives the same run. */
  readonly seed?: string;
  /**
   * New or empty: it gets the history, report.html, verdict.json and the rest. Default: a temporary one with
   * the history alone, removed when the process ends.
   */
  readonly folder?: string;
  /** Ends the run when it aborts: what was broken is healed first. Default: nothing does. */
  readonly signal?: AbortSignal;
  /** Lines on what goes on. Default: nobody is told. */
  readonly onProgress?: (line: string) => void;
  /** What could not be mended or taken away. Default: `process.emitWarning`. */
  readonly onUnhealed?: (what: string) => void;
}

export interface FinishedRun<V = Verdict> {
  readonly verdict: VerdictWord;
  /** One sentence with numbers. */
  readonly sentence: string;
  readonly findings: readonly Finding[];
  /** Exit code of the command: 0 as expected, 1 not, 3 inconclusive, 5 nothing was expected. */
  readonly exitCode: ExitCode;
  /** All that verdict.json has. */
  readonly details: V;
  /** Has the history. */
  readonly folder: string;
}

/** `V`: what a verdict of it is, by its database. */
export interface Experiment<V = Verdict> {
  readonly scenario: Scenario;
  /**
   * Throws as `planRun` and `performRun`; trouble after the set-up is in the verdict instead.
   */
  run(settings?: RunSettings): Promise<FinishedRun<V>>;
}

/** One on a group; of your own it takes checkers, which get its ledger as read before the heal and after it. */
export interface GroupExperimentOptions
  extends Omit<ExperimentOptions, 'database' | 'fault' | 'remedy' | 'storage'> {
  readonly database: GroupPart;
  readonly fault: WrittenGroup<'fault'>;
}

/**
 * Throws UsageError `SCENARIO_INVALID` where parts don't fit together, `CUSTOM_NAME` or
 * `OWN_PART_WITH_GROUP`.
 */
export function experiment(options: GroupExperimentOptions): Experiment<GroupVerdict>;
export function experiment(options: ExperimentOptions): Experiment;
export function experiment(options: AnyOptions): Experiment<AnyVerdict> {
  const { cluster } = options;
  const custom = customOf(options);
  const own = isCustomDatabase(options.database) ? { database: options.database } : {};
  const database = own.database ?? stockDatabase;
  namesOf({ ...custom, database });
  const scenario = scenarioOf(options, custom);
  refuseOwnWithGroup(scenario, { ...custom, ...own });
  return {
    scenario,
    async run({ seed = randomHex(8), folder: kept, ...hooks } = {}) {
      const folder = kept ?? temporaryFolder();
      const { onUnhealed = (what) => process.emitWarning(`not healed: ${what}`) } = hooks;
      const replay = (): string => `# run ${scenario.name} by its own script again, seed ${seed}`;
      const runId = randomHex(4);
      const wish = { cluster, database, scenario, custom, seed, runId, folder, replay };
      const judged = await performRun(await planRun(wish), () => ({
        onProgress: hooks.onProgress ?? (() => undefined),
        onPhase: () => undefined,
        onUnhealed,
        signal: hooks.signal ?? new AbortController().signal,
      }));
      if (kept !== undefined) await judged.write(kept);
      const { verdict: details } = judged;
      const { verdict, sentence, findings } = details;
      return { verdict, sentence, findings, details, folder, exitCode: exitCodeOf(details) };
    },
  };
}

type WrittenPart = WrittenGroup<'fault'> | WrittenGroup<'remedy'>;
const isCustom = <T extends { readonly like: string }>(part: T | WrittenPart): part is T =>
  typeof part === 'object' && 'like' in part;

type AnyOptions = Omit<ExperimentOptions, 'database'> & {
  readonly database?: DatabasePart | GroupPart | CustomDatabase;
};
const isCustomDatabase = (part: AnyOptions['database']): part is CustomDatabase =>
  part !== undefined && 'own' in part;

function customOf(options: AnyOptions): Custom {
  const { fault, remedy = 'none', checkers = [] } = options;
  return {
    ...(isCustom(fault) && { fault }),
    ...(isCustom(remedy) && { remedy }),
    ...(checkers.length > 0 && { checkers }),
  };
}

function scenarioOf(options: AnyOptions, custom: Custom): Scenario {
  const { cluster, database = mysql(), storage = array(), checkers: _, ...rest } = options;
  const { name, question, expected, fault, remedy = 'none', ...groups } = rest;
  refuseSaidTwice(groups);
  const written = {
    ...{ ...groups, ...storage },
    database: isCustomDatabase(database) ? (database.like ?? {}) : database,
    fault: isCustom(fault) ? fault.like : fault,
    remedy: isCustom(remedy) ? whenOf(remedy) : remedy,
  };
  const settings = settingsOf(written, (hint) => process.emitWarning(hint, 'DeprecationWarning'));
  const faultName = custom.fault?.name ?? settings.fault?.kind ?? 'none';
  const about = {
    name: name ?? faultName,
    question: question ?? `What becomes of the database after ${faultName}?`,
    expected: [...(expected ?? safetyLevels)],
  };
  const chosen = askedScenario(combined(settings, cluster.fields), about);
  const { fault: ownFault, remedy: ownRemedy } = custom;
  const isOwn =
    ownFault !== undefined || ownRemedy !== undefined || isCustomDatabase(options.database);
  // What ours came to says nothing of another one.
  return expected !== undefined || isOwn ? chosen : { ...chosen, ...expectationFor(chosen) };
}

/** Groups that a part says, by its key. */
const saidBy: Readonly<Record<string, keyof ExperimentOptions>> = {
  disk: 'storage',
  volume: 'storage',
  kubernetes: 'cluster',
};

/** Types refuse it too; not all that call the library have them. */
function refuseSaidTwice(groups: object): void {
  const twice = Object.keys(groups).flatMap((group) => {
    const part = saidBy[group];
    return part === undefined ? [] : [`${group}: \`${part}\` sets it`];
  });
  if (twice.length === 0) return;
  throw new UsageError('SCENARIO_INVALID', `the scenario is not valid:\n${twice.join('\n')}`, {
    hint: 'give it in that part only: docs/how-to/use-as-a-library.md',
  });
}

const whenOf = ({ like, at, untaintAt }: CustomRemedy<Capability>): object => ({
  kind: like,
  ...(at !== undefined && { at }),
  ...(untaintAt !== undefined && { untaintAt }),
});

const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');

const temporary: string[] = [];

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-run-'));
  if (temporary.length === 0) {
    process.once('exit', () => {
      for (const each of temporary) rmSync(each, { recursive: true, force: true });
    });
  }
  temporary.push(folder);
  return folder;
}
