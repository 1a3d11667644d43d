/** One procedure, from nothing to a history like any run's: what is done in it is the procedure's own. */
import type { ProcedureTestbed } from '../../cluster/kind/procedure/testbed.ts';
import type { RealClock } from '../../cluster/kind/real-clock.ts';
import { noTimes } from '../../experiment/run/bounds.ts';
import { observed } from '../../experiment/run/observed.ts';
import { bounded } from '../../experiment/run/run-context.ts';
import { basisOf, parseScenario, type Scenario } from '../../experiment/scenario.ts';
import { historyVersion, type HistoryRecord, type RunRecord } from '../../history/events.ts';
import type { Procedure, Seed } from '../seed.ts';
import { Bench } from './bench.ts';

export type ProcedureSeed = Pick<Seed, 'number' | 'claim'> & { readonly procedure: Procedure };

/** A procedure has neither fault nor verdict: of its scenario only that counts of which a cluster is made. */
export const scenarioOf = (
  { number, claim }: ProcedureSeed,
  made: Pick<Scenario, 'kubernetes' | 'graceMs' | 'forceDetachAfterMs'>,
): Scenario =>
  parseScenario({
    ...{ name: `claim-${number}`, question: claim, fault: 'none', remedy: 'none' },
    ...{ expected: ['inconclusive'], ...made },
  });

export interface RecordingOptions {
  readonly seed: ProcedureSeed;
  readonly scenario: Scenario;
  readonly runId: string;
  /** Gets the history. */
  readonly folder: string;
  readonly clock: RealClock;
  readonly open: (options: { readonly signal: AbortSignal }) => Promise<ProcedureTestbed>;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Throws as `observed` does. What fails is told and in the history. */
export async function recordProcedure(options: RecordingOptions): Promise<void> {
  const { seed, runId, signal, say } = options;
  const onRecord = (record: HistoryRecord): void => {
    if (record.type === 'error') say(`FAILED: ${record.where}: ${record.message}`);
  };
  const around = { ...options, first: firstOf(options), onProgress: say, onRecord };
  await observed(around, ({ testbed, recorder }) => ({
    whileObserved: () =>
      bounded({ testbed, times: noTimes, signal }, 'procedure', async (signal) => {
        const done = { type: 'action', actor: 'runner', name: `seed ${seed.number}` } as const;
        recorder.record({ ...done, step: 'begin' });
        await seed.procedure.act(new Bench({ testbed, recorder, runId, signal, say }));
        // Whatever it made of that: what it saw by then is no answer.
        signal.throwIfAborted();
        recorder.record({ ...done, step: 'done' });
      }),
  }));
}

const firstOf = ({ seed, scenario, runId }: RecordingOptions): Omit<RunRecord, 't'> => ({
  type: 'run',
  schemaVersion: historyVersion,
  runId,
  // Nothing is drawn.
  seed: '',
  backend: 'kind',
  basis: basisOf('kind', scenario),
  scenario,
  claim: seed.number,
  replay: `npx zx experiments/seed.mjs ${seed.number}`,
});
