/** Runs procedures one after the other on one cluster, each with a history of its own. */
import { join } from 'node:path';
import { type ClusterChoice, openCluster, type OpenCluster } from '../../../lib/kind/index.ts';
import { openProcedureTestbed, type ProcedureTestbed } from './testbed.ts';
import { realClock, type RealClock, describeError } from '../../../lib/core/index.ts';
import { observedAlone } from '../../observed-alone.ts';
import { each, whileObserved, type TestbedOptions } from '../../../lib/run/index.ts';
import {
  basisOf,
  parseScenario,
  type Scenario,
  type Settings,
} from '../../../lib/scenario/index.ts';
import { historyVersion, type HistoryRecord, type RunRecord } from '../../../lib/history/index.ts';
import type { Procedure, Claim } from '../claim.ts';
import { Bench } from './bench.ts';
import { actionOf } from './notes.ts';
import { mysql } from '../../../lib/mysql/index.ts';

export interface ProceduresOptions extends ClusterChoice {
  readonly wanted: readonly ProcedureClaim[];
  /** Settings that the cluster is made with. */
  readonly made: Parameters<typeof procedureScenario>[1];
  readonly runId: string;
  /** Each procedure's history goes to `<folder>/claim-<number>`. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** A procedure ended, well or not. */
  readonly onDone: (folder: string) => void;
}

/** One that fails is told, and the others go on; Ctrl-C ends them all. The cluster is released. */
export async function runProcedures(options: ProceduresOptions): Promise<void> {
  const { wanted, made, runId, signal, say } = options;
  let opening: Promise<OpenCluster> | undefined;
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => (await opening?.catch(() => undefined))?.cluster.release());
  for (const claim of wanted) {
    const { number } = claim;
    const scenario = procedureScenario(claim, made);
    const { timers } = scenario;
    const folder = join(options.folder, `claim-${number}`);
    const clock = realClock();
    const tell = (line: string): void => say(`claim ${number}: ${line}`);
    await recordProcedure({
      ...{ claim, scenario, runId: `${runId}-${number}`, folder, clock, signal, say: tell },
      async open({ signal }) {
        opening ??= openCluster(options, {
          database: mysql,
          scenario,
          runId,
          onProgress: say,
          signal,
        });
        return openProcedureTestbed({
          ...(await opening),
          clock,
          tolerationMs: timers.toleration,
          signal,
        });
      },
    }).catch((error: unknown) => tell(`FAILED: ${describeError(error)}`));
    options.onDone(folder);
    // Without a cluster no other one can do better.
    await opening;
    signal.throwIfAborted();
  }
}

/** One procedure, from nothing to a history like any run's: what is done in it is the procedure's own. */
export type ProcedureClaim = Pick<Claim, 'number' | 'statement'> & {
  readonly procedure: Procedure;
};

/** A procedure has neither fault nor verdict: of its scenario only that counts of which a cluster is made. */
export const procedureScenario = (
  { number, statement }: ProcedureClaim,
  made: Pick<Settings, 'kubernetes' | 'timers'>,
): Scenario =>
  parseScenario({
    ...{ name: `claim-${number}`, question: statement, fault: { kind: 'none' } },
    ...{ expected: ['inconclusive'], ...made },
  });

export interface RecordingOptions
  extends Pick<TestbedOptions, 'scenario' | 'runId' | 'folder' | 'signal'> {
  readonly claim: ProcedureClaim;
  readonly clock: RealClock;
  readonly open: (options: { readonly signal: AbortSignal }) => Promise<ProcedureTestbed>;
  readonly say: (line: string) => void;
}

/** Throws as `runObserved` does. What fails is told and in the history. */
export async function recordProcedure(options: RecordingOptions): Promise<void> {
  const { claim, runId, say } = options;
  const onRecord = (record: HistoryRecord): void => {
    if (record.type === 'error') say(`FAILED: ${record.where}: ${record.message}`);
  };
  const around = { ...options, first: firstOf(options), onProgress: say, onRecord };
  await observedAlone(around, (volumes) =>
    whileObserved(volumes, (observed) =>
      each(observed, 'run', ({ testbed, recorder, shell }) =>
        shell.bounded('procedure', async (signal) => {
          const done = { type: 'action', actor: 'runner', name: actionOf(claim.number) } as const;
          recorder.record({ ...done, step: 'begin' });
          await claim.procedure.act(new Bench({ testbed, recorder, runId, signal, say }));
          // Whatever it made of that: what it saw by then is no answer.
          signal.throwIfAborted();
          recorder.record({ ...done, step: 'done' });
        }),
      ),
    ),
  );
}

const firstOf = ({ claim, scenario, runId }: RecordingOptions): Omit<RunRecord, 't'> => ({
  type: 'run',
  schemaVersion: historyVersion,
  runId,
  // Nothing is drawn.
  seed: '',
  backend: 'kind',
  basis: basisOf({ isModel: false }, scenario),
  scenario,
  claim: claim.number,
  replay: `npx zx research/claims.mjs ${claim.number}`,
});
