/**
 * One run from what is wished to its verdict, whatever database is tested: what the command line and the library
 * share. What a kind of database needs is imported when it is wanted: --help and --dry-run answer at once.
 */
import {
  capabilities,
  releaseOf,
  typed,
  UsageError,
  type Capability,
  type ImageSource,
  madeBy,
} from '../../core/index.ts';
import type { History } from '../../history/index.ts';
import type { Checker, GroupVerdict, Verdict } from '../../judge/index.ts';
import type { SourceChoice } from '../../kind/index.ts';
import {
  kindCapabilities,
  needsOf,
  type Backend,
  type Custom,
  type Database,
  type Parts,
  type RunOptions,
} from '../../run/index.ts';
import { stockDatabaseKind, type Scenario } from '../../scenario/index.ts';
import { checkNewFolder, makeFolder, modelRunId } from './run-folder.ts';

/** Throws UsageError. */
export function refuseUnfit(scenario: Scenario, choice: BackendChoice, parts?: Parts): void {
  if (choice.images !== undefined) releaseOf(scenario.kubernetes.version, madeBy(choice.images));
  refuseLacking(scenario, choice, parts);
}

/**
 * `source`: whose programs are in the images. The version must be one that clusters are made of.
 * Throws UsageError.
 */
export function refuseUnmeasurable(scenario: Scenario, source: ImageSource): void {
  releaseOf(scenario.kubernetes.version, source);
  refuseLacking(scenario, { backend: 'kind', capabilities: kindCapabilities(source) });
}

const clusterTitles: Readonly<Record<string, string>> = {
  kind: 'the kind cluster',
  sim: 'the model',
};

/** Refuses what the backend lacks, which would be ignored without a word. Throws UsageError `NOT_ON_THIS_CLUSTER`. */
export function refuseLacking(
  scenario: Scenario,
  { backend, capabilities: has }: Pick<BackendChoice, 'backend' | 'capabilities'>,
  parts?: Parts,
): void {
  const lacking = needsOf(scenario, parts).filter(({ capability }) => !has.includes(capability));
  if (lacking.length === 0) return;
  const lines = lacking.map(
    ({ capability, value, field }) =>
      `✖ ${value}: it cannot ${capabilities[capability].can} (${capability})\n  → at ${field}`,
  );
  throw new UsageError(
    'NOT_ON_THIS_CLUSTER',
    `${clusterTitles[backend] ?? backend} cannot play this scenario:\n${lines.join('\n')}`,
    {
      hint: 'omit that, or choose another cluster; docs/reference/scenarios.md lists what each needs',
    },
  );
}

/** A checker is asked of a group's ledger; all else that a caller brings is made for one server on one volume. Throws UsageError. */
export function refuseOwnWithGroup({ database }: Scenario, own: Parts): void {
  const unfit = Object.keys(own).filter((part) => part !== 'checkers');
  if (database.kind === stockDatabaseKind || unfit.length === 0) return;
  throw new UsageError(
    'OWN_PART_WITH_GROUP',
    `a replication group supports only your own checkers, not ${unfit.join(', ')}`,
    { hint: 'omit it, or test one server' },
  );
}

/** A batch sums up what became of volumes. Throws UsageError. */
export function refuseInBatch({ database }: Scenario): void {
  if (database.kind === stockDatabaseKind) return;
  throw new UsageError('GROUP_IN_BATCH', 'a batch cannot contain replication groups', {
    hint: 'run it alone',
    command: typed('group-replication'),
  });
}

/** Verdict of whatever kind, with the fields of verdict.json. */
export type AnyVerdict = Verdict | GroupVerdict;

/** A verdict, and what is made of it. */
export interface Judged {
  readonly verdict: AnyVerdict;
  readonly headline: string;
  /** Leaves what the run leaves for people and machines; the same history gives the same bytes. */
  write(folder: string): Promise<void>;
}

/** From nothing to a verdict. Throws as `recordRun` does. */
export async function playAndJudge(options: RunOptions): Promise<Judged> {
  const { recordRun, group, oneServer } = await import('../../run/index.ts');
  const { openHistory } = await import('../../history/index.ts');
  const { database, folder, scenario, custom: { checkers = [] } = {} } = options;
  if (scenario.database.kind === 'group-replication') await recordRun(options, group);
  else await recordRun(options, oneServer);
  return judgeHistory(openHistory(folder), database, checkers);
}

/** The same verdict from its history alone, of whatever version. `checkers`: a caller's, after ours. */
export async function judgeHistory(
  history: History,
  database: Database,
  checkers: readonly Checker[] = [],
): Promise<Judged> {
  const judge = await import('../../judge/index.ts');
  const report = await import('../../report/index.ts');
  const judging = { database, checkers };
  if (judge.isGroupRun(history.smallRecords())) {
    const verdict = judge.judgeGroup(history, judging);
    return {
      verdict,
      headline: judge.groupHeadlineOf(verdict, database),
      write: (folder) => report.writeGroupOutputs(folder, verdict, history, judging),
    };
  }
  const verdict = judge.assembleVerdict(history, judging);
  return {
    verdict,
    headline: judge.headlineOf(verdict),
    write: (folder) => report.writeRun(folder, verdict, history, judging),
  };
}

/** What is done with one goes by what it is and has, never by its name. */
export interface BackendChoice {
  /** Its name, for records and people. */
  readonly backend: string;
  /** It predicts; see Backend. */
  readonly isModel: boolean;
  /** What its clusters are made of. Absent where runs make none. */
  readonly images?: SourceChoice;
  /** One clause for the terminal: why this one. */
  readonly why: string;
  /** What it will have once it is open: what needs more is refused before. */
  readonly capabilities: readonly Capability[];
}

/** Where runs take place. */
export interface ClusterSource {
  /** Throws InfrastructureError where there is no such thing. Creates nothing. */
  choose(scenario: Scenario): Promise<BackendChoice>;
  open(choice: BackendChoice): Promise<Backend>;
}

export interface RunWish {
  readonly cluster: ClusterSource;
  readonly database: Database;
  readonly scenario: Scenario;
  readonly custom?: Custom;
  readonly seed: string;
  /** Id of a run on a real cluster; on the model a run is its seed. */
  readonly runId: string;
  /** New or empty, or not made yet. */
  readonly folder: string;
  /** Paste-ready; `backend` is the one in fact taken. */
  readonly replay: (backend: string) => string;
}

/** It is checked and has its backend chosen, and nothing was created for it yet. */
type RunPlan = RunWish & { readonly choice: BackendChoice };

/** What is called while it runs; see RunOptions. */
export type RunHooks = Pick<
  RunOptions,
  'onProgress' | 'onPhase' | 'onStep' | 'onUnhealed' | 'onRecord' | 'signal'
>;

/** `hasFlag` as in `checkNewFolder`. Throws UsageError or InfrastructureError; nothing was created. */
export async function planRun(wish: RunWish, hasFlag = false): Promise<RunPlan> {
  const { cluster, database, scenario, custom, folder } = wish;
  checkNewFolder(folder, hasFlag);
  const choice = await cluster.choose(scenario);
  refuseUnfit(scenario, choice, { ...custom, database });
  return { ...wish, choice };
}

/** `watch` is given the backend's clock, which begins with the run. Throws as `recordRun` does. */
export async function performRun(
  { cluster, database, scenario, custom, seed, choice, folder, ...wish }: RunPlan,
  watch: (clock: Backend['clock']) => RunHooks,
): Promise<Judged> {
  const backend = await cluster.open(choice);
  makeFolder(folder);
  return playAndJudge({
    ...{ database, scenario, seed, folder, backend },
    ...(custom && { custom }),
    runId: choice.isModel ? modelRunId(seed) : wish.runId,
    replay: wish.replay(choice.backend),
    ...watch(backend.clock),
  });
}
