/** Before anything is broken, both clients commit and the audit finds nothing to say. */
import { judgeImages } from '../../checkers/index.ts';
import type { Writers } from '../../workload/port.ts';
import { EvidenceError } from '../../errors.ts';
import { openHistory } from '../../history/reader.ts';
import { bothCommit } from './both-clients.ts';
import { audit, copyImage, type ImageRun } from './images.ts';
import { waitUntil } from './wait.ts';

/** Resolves when both clients commit, have done so for a while, and the volume is copied. */
export async function reachSteadyState(run: ImageRun, writers: Writers): Promise<void> {
  const { testbed, scenario, signal } = run;
  if (scenario.rate !== 0) {
    const deadlineMs = testbed.clock.nowMs() + 60_000;
    const steady = await waitUntil(testbed.clock, () => bothCommit(writers), {
      deadlineMs,
      signal,
    });
    if (!steady) throw new EvidenceError('NO_STEADY_STATE', 'a client committed nothing in 60 s');
  }
  await testbed.clock.sleep(scenario.warmupMs, signal);
  const pod = await testbed.kubernetes.databasePod();
  await copyImage(run, 'steady', pod === undefined ? [] : [pod.node]);
}

/** Throws EvidenceError `NOT_STEADY` where the audit of that copy finds trouble. `folder`: the run's. */
export async function auditSteadyState(run: ImageRun & { readonly folder: string }): Promise<void> {
  await audit(run, 'steady');
  const history = openHistory(run.folder);
  const findings = judgeImages(history, {}).findings.filter((finding) => finding.level !== 'note');
  for (const { code, summary } of findings) {
    const message = `${code}: ${summary}`;
    run.recorder.record({ type: 'error', where: 'steady state', message });
  }
  if (findings.length > 0) {
    throw new EvidenceError('NOT_STEADY', 'the audit found trouble before anything was broken');
  }
}
