/** Copies of the volume, each of one moment, and their audits. */
import type { LedgerRow } from '../../checkers/evidence.ts';
import type { Recorder, Testbed } from '../../cluster/port.ts';
import { database } from '../../database/chosen.ts';
import type { ImageLabel } from '../../history/events.ts';
import type { Scenario } from '../scenario.ts';

/** What copies and audits need of a run. */
export interface ImageRun {
  readonly testbed: Testbed;
  readonly recorder: Recorder;
  readonly scenario: Scenario;
  /** When each copy was begun: what was acknowledged by then must be in it. */
  readonly takenAtMs: Map<ImageLabel, number>;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

/** With every node that runs frozen for that moment. */
export async function takeImage(run: ImageRun, label: ImageLabel): Promise<void> {
  const running: string[] = [];
  for (const node of run.testbed.nodes) {
    if ((await run.testbed.machine(node).state()) === 'running') running.push(node);
  }
  await copyImage(run, label, running);
}

/** With these nodes frozen for that moment. */
export async function copyImage(
  run: ImageRun,
  label: ImageLabel,
  freeze: readonly string[],
): Promise<void> {
  const { testbed, recorder, takenAtMs, scenario, signal } = run;
  // What a living server has not synced yet need not be in a copy.
  takenAtMs.set(label, testbed.clock.nowMs() - database.durability.heldBackMs(scenario));
  const about = { type: 'action', actor: 'runner', name: `copy ${label} image` } as const;
  recorder.record({ ...about, step: 'begin' });
  const made = await testbed.disk.copy(label, freeze, signal);
  recorder.record({ type: 'copy', image: label, made });
  recorder.record({ ...about, step: 'done' });
}

export async function audit(run: ImageRun, image: ImageLabel): Promise<void> {
  const { testbed, recorder, onProgress, takenAtMs, signal } = run;
  signal.throwIfAborted();
  onProgress(`auditing the ${image} image`);
  const onRow = (row: LedgerRow): void => recorder.record({ type: 'row', image, row });
  const evidence = await testbed.auditor.audit(image, onRow, signal);
  recorder.record({ type: 'image', image, takenAtMs: takenAtMs.get(image) ?? 0, evidence });
}
