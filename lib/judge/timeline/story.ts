/** The plot of a run, read from its small records: who was the victim, when was what done. */
import {
  type ActionRecord,
  type ObservationRecord,
  type PhaseName,
  type RunRecord,
  type SetupRecord,
  recordedScenario,
  tellsOf,
  type Tells,
  type SmallRecord,
  observed,
} from '../../history/index.ts';
import type { JudgedDatabase } from '../database.ts';
import { EvidenceError } from '../../core/index.ts';
import type { Scenario } from '../../scenario/index.ts';

export interface Story {
  readonly records: readonly SmallRecord[];
  readonly observations: readonly ObservationRecord[];
  readonly run: RunRecord;
  readonly database: JudgedDatabase;
  /** The run's, completed: an older history lacks fields that came later. */
  readonly scenario: Scenario;
  /** Name in records of the first fault and of the remedy: the kind, or what a caller named his own. */
  readonly faultName: string;
  readonly remedyName: string;
  /** What it may be asked for. */
  readonly tells: Tells;
  /** Absent when the run ended before its testbed was up. */
  readonly setup: SetupRecord | undefined;
  /** When the fault began, ms on the run's clock; absent when it never did. */
  readonly faultAtMs: number | undefined;
  /** When the fault was in place. */
  readonly faultDoneAtMs: number | undefined;
  readonly healAtMs: number;
  /** When the runner began to copy the volume after the heal; absent when it never did. */
  readonly secondImageAtMs: number | undefined;
  readonly endAtMs: number;
  readonly victimNode: string | undefined;
  readonly victimUid: string | undefined;
  readonly remedy: ActionRecord | undefined;
}

/**
 * Throws EvidenceError: `HISTORY_EMPTY` (no record of the run), `HISTORY_OF_CLAIM` (it is no scenario's),
 * `HISTORY_TOO_NEW`, `HISTORY_DAMAGED` (its scenario is none).
 */
export function tellStory(records: readonly SmallRecord[], database: JudgedDatabase): Story {
  const run = records.find((record) => record.type === 'run');
  if (run === undefined) {
    throw new EvidenceError('HISTORY_EMPTY', 'the history has no record of its run', {
      hint: records.some(({ type }) => type === 'case')
        ? 'it belongs to the two-kernel lab, whose results are in data/measurements.jsonl'
        : 'the run ended before it wrote anything; run it again',
    });
  }
  if (run.claim !== undefined) {
    throw new EvidenceError('HISTORY_OF_CLAIM', `this is the procedure of claim ${run.claim}`, {
      hint: 'it has neither a fault nor a verdict; `npx zx research/claims.mjs --run FOLDER` reads its answer',
    });
  }
  const tells = tellsOf(run);
  const observations = records.filter((record) => record.type === 'observation');
  const action = (
    actor: ActionRecord['actor'],
    step: ActionRecord['step'],
  ): ActionRecord | undefined =>
    records
      .filter((record) => record.type === 'action')
      .find((record) => record.actor === actor && record.step === step);
  const phaseAt = (phase: PhaseName): number | undefined =>
    records.find((record) => record.type === 'phase' && record.phase === phase)?.t;
  const fault = action('fault', 'begin');
  const scenario = scenarioIn(run);
  const endAtMs = records.at(-1)?.t ?? 0;
  return {
    records,
    observations,
    run,
    database,
    scenario,
    faultName: run.custom?.fault?.name ?? scenario.fault.kind,
    remedyName: run.custom?.remedy?.name ?? scenario.remedy.kind,
    tells,
    setup: records.find((record) => record.type === 'setup'),
    faultAtMs: fault?.t,
    faultDoneAtMs: action('fault', 'done')?.t,
    healAtMs: phaseAt('heal') ?? endAtMs,
    secondImageAtMs: phaseAt('second-image'),
    endAtMs,
    victimNode: fault?.node,
    victimUid: fault === undefined ? undefined : podUidOn(observations, fault.node, fault.t),
    remedy: action('remedy', 'begin'),
  };
}

function scenarioIn({ scenario }: RunRecord): Scenario {
  try {
    return recordedScenario(scenario);
  } catch (cause) {
    throw new EvidenceError('HISTORY_DAMAGED', 'the scenario in the history is not valid', {
      cause,
    });
  }
}

/** UID of the pod that was last seen running on that node before that time. */
function podUidOn(
  observations: readonly ObservationRecord[],
  node: string | undefined,
  beforeMs: number,
): string | undefined {
  const seen = observations.findLast(
    ({ name, node: on, t }) => name === observed.podRunning && on === node && t <= beforeMs,
  );
  return seen === undefined ? undefined : String(seen.data.uid);
}

/** What comes after the second image was asked for needs not be seen. */
export const lookedUntilMs = ({
  secondImageAtMs,
  endAtMs,
}: Pick<Story, 'secondImageAtMs' | 'endAtMs'>): number => secondImageAtMs ?? endAtMs;
