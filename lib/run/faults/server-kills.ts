/**
 * What may lead up to a fault: the database's process is killed over and over, until its kubelet waits
 * before it starts it again (CrashLoopBackOff). A fault that cuts the node off meanwhile leaves a
 * report of a container that does not run, and once such a pod is Terminating it pins no volume.
 *
 * kubelet.go, initialCrashLoopBackOff and MaxCrashLoopBackOff: the first restart comes at once, the
 * second 10 s after the container's end, each later one after twice as long, up to 5 min.
 */
import type { ContainerReport } from '../ports/cluster.ts';
import { EvidenceError } from '../../core/index.ts';
import { restartMs } from '../../scenario/index.ts';
import { certify, type Fault, type FaultContext, type Probe, type StruckVolume } from './fault.ts';
import { proven } from './probes.ts';

const name = 'kill server';

/** Less than the shortest back-off, after which the container runs again. */
const reportedWithinMs = 9000;
const askEveryMs = 200;

export function withServerKills(fault: Fault): Fault {
  return {
    ...fault,
    async leadUp(context, signal): Promise<void> {
      for (let left = context.scenario.serverKills; left > 0; left--) {
        await until(context, signal, restartMs, 'Ready', ({ ready }) => ready);
        await killServer(context);
        await until(context, signal, reportedWithinMs, 'not Ready', ({ ready }) => !ready);
      }
      await until(context, signal, reportedWithinMs, 'not running', doesNotRun);
      await certifyWaiting(context, 'before');
    },
    async inject(context): Promise<void> {
      await fault.inject(context);
      // The kubelet may have been faster: then its last report is of a container that runs.
      await certifyWaiting(context, 'during');
    },
  };
}

async function killServer({
  testbed,
  recorder,
  victim,
}: FaultContext<'server-kill'>): Promise<void> {
  const about = { type: 'action', actor: 'runner', name, node: victim.node } as const;
  recorder.record({ ...about, step: 'begin' });
  const proof = await testbed.machine(victim.node).killServer();
  recorder.record({ ...about, step: 'done', detail: proof.evidence });
  await certify(recorder, name, 'before', [proven('the database’s process was killed', proof)]);
}

const doesNotRun = ({ state }: ContainerReport): boolean => state !== 'running';

const told = (report: ContainerReport | undefined): string =>
  report === undefined
    ? 'never reported'
    : [report.state, report.reason].filter(Boolean).join(': ');

async function certifyWaiting({ volumes }: FaultContext, at: 'before' | 'during'): Promise<void> {
  for (const volume of volumes) {
    await certify(volume.recorder, name, at, [reportedAsWaiting(volume)]);
  }
}

/** Both count as not running (pkg/volume/util IsPodTerminated). */
const reportedAsWaiting = ({ pods, pod }: StruckVolume): Probe => ({
  claim: 'the database’s container was last reported as waiting or terminated',
  ask: async () => {
    const report = await pods.databaseContainer(pod);
    return { holds: report !== undefined && doesNotRun(report), evidence: told(report) };
  },
});

/** Resolves once it is so of every volume's container. */
async function until(
  { testbed: { clock }, volumes }: FaultContext,
  signal: AbortSignal,
  withinMs: number,
  wanted: string,
  isSo: (report: ContainerReport) => boolean,
): Promise<void> {
  const deadlineMs = clock.nowMs() + withinMs;
  for (const { pods, pod } of volumes) {
    for (;;) {
      const report = await pods.databaseContainer(pod);
      if (report !== undefined && isSo(report)) break;
      if (clock.nowMs() >= deadlineMs) {
        const within = `within ${withinMs / 1000} s`;
        throw new EvidenceError('NOT_WAITING', `the container was not ${wanted} ${within}`, {
          hint: `its kubelet last reported: ${told(report)}; there was no fault yet, run it again`,
        });
      }
      await clock.sleep(askEveryMs, signal);
    }
  }
}
