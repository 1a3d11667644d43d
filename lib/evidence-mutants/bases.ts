/** The histories that mutants are copies of: real ones, and runs of the model where those lack ends. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simBackend } from '../cluster/sim/backend.ts';
import { runScenario } from '../experiment/run.ts';
import { parseScenario, type ScenarioInput } from '../experiment/scenario.ts';
import type { ObservationRecord, RunRecord } from '../history/events.ts';
import { isOfToday } from '../history/migration.ts';
import { observed } from '../history/observations.ts';
import { add, change, from, ofType } from './edit.ts';
import { holdRun, type HeldRun } from './held-run.ts';

const samples = fileURLToPath(new URL('../../reports/samples/', import.meta.url));

interface Base {
  /** A real run of it; taken where it is of the newest version, or where no model is. */
  readonly sample: string;
  readonly model?: Partial<ScenarioInput>;
  /** Tells the model's run as a real one, whose machine was looked after. */
  readonly onMachine?: true;
}

const fenced = { disk: 'fenced', remedy: 'force-delete' } as const;
const unfenced = { disk: 'unfenced', remedy: 'force-delete' } as const;
const crash = { fault: 'node-crash', remedy: 'force-delete' } as const;

export const bases = {
  fenced: { sample: 'partition-force-delete-fenced', model: fenced },
  'fenced-on-a-machine': {
    sample: 'partition-force-delete-fenced',
    model: fenced,
    onMachine: true,
  },
  untouched: { sample: 'partition-none', model: { remedy: 'none' } },
  crash: { sample: 'node-crash', model: crash },
  damaged: { sample: 'partition-force-delete-unfenced', model: unfenced },
  'real-fenced': { sample: 'partition-force-delete-fenced' },
  'real-lost': { sample: 'node-crash-trx-commit-2' },
} as const satisfies Readonly<Record<string, Base>>;
export type BaseName = keyof typeof bases;

/** A model's run takes a second with these. */
const shortTimers = {
  ...{ rate: 10, graceMs: 20_000, tolerationMs: 5000, forceDetachAfterMs: 15_000 },
  ...{ warmupMs: 1000, horizonMs: 180_000, patienceMs: 60_000, convergeMs: 600_000 },
};

/** `scratch`: where models run. */
export async function holdBase(name: BaseName, scratch: string): Promise<HeldRun> {
  const { sample, model, onMachine }: Base = bases[name];
  const real = join(samples, sample);
  if (existsSync(join(real, 'history'))) {
    const held = holdRun(real);
    if (model === undefined || isOfToday(held.story.run)) return held;
  }
  const folder = join(scratch, `base-${name}`);
  const scenario = parseScenario({
    ...{ name, question: 'What?', fault: 'network-partition' },
    // The word as expected is not asked here.
    expected: ['safe'],
    ...shortTimers,
    ...model,
  });
  await runScenario({
    ...{ scenario, seed: '1', runId: 'run', folder, backend: simBackend(), replay: 'none' },
    onProgress: () => undefined,
    onPhase: () => undefined,
    signal: new AbortController().signal,
  });
  const held = holdRun(folder);
  if (onMachine) lookAfterMachine(held);
  return held;
}

function lookAfterMachine(held: HeldRun): void {
  change(ofType('run'), (record: RunRecord) => ({ ...record, backend: 'kind' }))(held);
  change(from('observer'), ({ data, ...record }: ObservationRecord) => ({
    ...record,
    data: { ...data, sees: [...(data['sees'] as readonly string[]), 'audit'] },
  }))(held);
  // What a real control plane says at its start, and of a pod's.
  const said = { type: 'observation', t: 1 } as const;
  add(() => [
    { ...said, source: 'controller-manager', name: observed.leaderAcquired, data: { line: '' } },
    { ...said, source: 'audit', name: observed.apiRequest, data: { verb: 'create' } },
  ])(held);
  const looks = Math.floor(held.story.endAtMs / 1000);
  const look = (index: number) => ({ type: 'machine' as const, t: index * 1000, timerLagMs: 1 });
  add(() => Array.from({ length: looks }, (_, index) => look(index + 1)))(held);
}
