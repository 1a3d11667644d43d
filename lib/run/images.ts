/** Copies of the volume, each of one moment, and their audits. */
import { type LedgerRow, type ImageLabel, openHistory } from '../history/index.ts';
import { judgeImages } from '../judge/index.ts';
import type { Testbed } from './ports/cluster.ts';
import { EvidenceError } from '../core/index.ts';
import type { Disk } from './ports/storage.ts';
import type { Scenario } from '../scenario/index.ts';
import type { StepsContext } from './steps.ts';

/** What copies and audits need of a run. */
export interface ImageRun
  extends Pick<StepsContext<Testbed>, 'database' | 'recorder' | 'onProgress'> {
  readonly testbed: Pick<Testbed, 'clock' | 'auditor'> & { readonly disk: Pick<Disk, 'copy'> };
  readonly scenario: Pick<Scenario, 'trxCommit'>;
  /** When each copy was begun: what was acknowledged by then must be in it. */
  readonly takenAtMs: Map<ImageLabel, number>;
  readonly signal: AbortSignal;
}

/** With every node that runs frozen for that moment. */
export async function takeImage(
  run: ImageRun & Pick<StepsContext<Testbed>, 'testbed'>,
  label: ImageLabel,
): Promise<void> {
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
  const { testbed, recorder, takenAtMs, database, scenario, signal } = run;
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

/** Throws EvidenceError `NOT_STEADY` where the audit of that copy finds trouble. */
export async function auditSteady(
  run: ImageRun & Pick<StepsContext<Testbed>, 'folder'>,
): Promise<void> {
  await audit(run, 'steady');
  const history = openHistory(run.folder);
  const { findings } = judgeImages(history, {}, { database: run.database });
  const troubles = findings.filter((finding) => finding.level !== 'note');
  for (const { code, summary } of troubles) {
    const message = `${code}: ${summary}`;
    run.recorder.record({ type: 'error', where: 'steady state', message });
  }
  if (troubles.length > 0) {
    throw new EvidenceError('NOT_STEADY', 'the audit found trouble before anything was broken');
  }
}
