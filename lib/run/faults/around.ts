/** What is put around a fault: it is asked again while it lasts, a second one comes beside it, kills lead up to it. */
import { type Capability, type Clock, whenInWords, EvidenceError } from '../../core/index.ts';
import { askAgainEveryMs } from '../../history/index.ts';
import { faultOf } from './declared.ts';
import {
  certify,
  onEach,
  type Fault,
  type FaultContext,
  type Moments,
  type Probe,
  stepOf,
  type StruckVolume,
} from './fault.ts';
import { proven } from './probes.ts';
import type { ContainerReport } from '../ports/cluster.ts';
import {
  alsoNameOf,
  restartMs,
  type Scenario,
  strikesOther,
  faultNamed,
  fields,
} from '../../scenario/index.ts';

type Context = FaultContext<Capability>;

/** One that has not answered by then does not hold: a node that hangs must not hold up the run. */
const answerWithinMs = 30_000;

/** The same fault; what holds while it lasts is asked again meanwhile. */
export function askedAgain(fault: Fault): Fault {
  const { name, holds } = fault;
  if (holds === undefined) return fault;
  const askAgain = (context: Context): Promise<void> => {
    const { testbed, isOver = () => false } = context;
    const probes = holds(context).map((probe) => inTime(probe, testbed.clock));
    // What was asked while the victim was switched off is dropped: nobody knows of when its answer is.
    const recorder: FaultContext['recorder'] = {
      record: (answer) => void (isOver() || context.recorder.record(answer)),
    };
    return isOver() ? Promise.resolve() : certify(recorder, name, 'during', probes);
  };
  return {
    ...fault,
    askAgain,
    async goOn(context, moments): Promise<void> {
      await Promise.all([fault.goOn?.(context, moments), keepAsking(context, moments, askAgain)]);
    },
  };
}

async function keepAsking(
  context: Context,
  moments: Moments,
  askAgain: (context: Context) => Promise<void>,
): Promise<void> {
  const everyMs = askAgainEveryMs(context.scenario.timers.grace);
  while (await moments.passed(everyMs)) await askAgain(context);
}

const inTime = ({ claim, ask }: Probe, clock: Clock): Probe => ({
  claim,
  ask: async () => {
    const answered = new AbortController();
    const late = clock
      .sleep(answerWithinMs, answered.signal)
      .then(() => ({ holds: false, evidence: `no answer within ${answerWithinMs / 1000} s` }));
    // Once there is an answer, nobody waits for the end of this.
    late.catch(() => undefined);
    try {
      return await Promise.race([ask(), late]);
    } finally {
      answered.abort();
    }
  },
});

/** The node that the second fault strikes, and the volumes that are mounted there; undefined without such a node. */
async function aimed(context: Context, moments: Moments): Promise<Context | undefined> {
  const { scenario, testbed, victim, volumes } = context;
  if (!strikesOther(scenario)) return context;
  const pods = await onEach(volumes, ({ pods }) => pods.databasePod());
  const others = testbed.nodes.filter((node) => node !== victim.node);
  const isSuccessor = scenario.also.on === 'successor';
  const node = others.find((each) => pods.some((pod) => pod?.node === each) === isSuccessor);
  if (node === undefined) return undefined;
  const areMounted = moments.areMountedOn(node);
  return {
    ...context,
    victim: { node },
    volumes: volumes.filter((_, index) => areMounted[index]),
    isOver: () => false,
  };
}

/** Both as one fault. The second is healed `also.for` later, or with the first. */
export function withSecond(first: Fault, second: Fault): Fault {
  /** What it broke, until that is mended. */
  let broken: Context | undefined;
  let mayEnd = false;
  const mend = async (): Promise<void> => {
    if (broken === undefined) return;
    await second.heal(broken);
    broken = undefined;
  };
  const goOnSecond = async (given: Context, moments: Moments): Promise<void> => {
    const { also } = given.scenario;
    const failed = (why: string): void => stepOf(second.name, given)('failed', why);
    if (!(await moments.reached(also.at)))
      return failed(`the watch was over before ${whenInWords(also.at)} came`);
    const context = await aimed(given, moments);
    if (context === undefined) return failed(`there was no ${also.on}`);
    broken = context;
    await second.inject(context);
    const { clock } = context.testbed;
    const untilMs = clock.nowMs() + also.for;
    const leftMs = (): number => untilMs - clock.nowMs();
    // What it goes on to do has ended when it is healed.
    const passed = (ms: number): Promise<boolean> =>
      ms < leftMs() ? moments.passed(ms) : Promise.resolve(false);
    await second.goOn?.(context, { ...moments, passed });
    if (!(await moments.passed(Math.max(0, leftMs())))) return;
    await second.askAgain?.(context);
    await mend();
  };
  return {
    name: first.name,
    leastMs: first.leastMs,
    inject: (context) => first.inject(context),
    async goOn(context, moments): Promise<void> {
      const going = goOnSecond(context, moments).finally(() => {
        mayEnd = true;
      });
      await Promise.all([first.goOn?.(context, moments), going]);
    },
    mayEnd: () => mayEnd,
    async askAgain(context): Promise<void> {
      await first.askAgain?.(context);
      if (broken !== undefined) await second.askAgain?.(broken);
    },
    async heal(context): Promise<void> {
      try {
        await mend();
      } finally {
        await first.heal(context);
      }
    },
  };
}

const name = 'kill server';

/** Less than the shortest back-off, after which the container runs again. */
const reportedWithinMs = 9000;
const askEveryMs = 200;

/**
 * What may lead up to a fault: the database's process is killed over and over, until its kubelet waits
 * before it starts it again (CrashLoopBackOff). A fault that cuts the node off meanwhile leaves a
 * report of a container that does not run, and once such a pod is Terminating it pins no volume.
 *
 * kubelet.go, initialCrashLoopBackOff and MaxCrashLoopBackOff: the first restart comes at once, the
 * second 10 s after the container's end, each later one after twice as long, up to 5 min.
 */
export function withServerKills(fault: Fault): Fault {
  return {
    ...fault,
    async leadUp(context, signal): Promise<void> {
      for (let left = context.scenario.fault.serverKills; left > 0; left--) {
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

/** From right before the fault on, since calls are among its first effects. */
const withCalls = (fault: Fault): Fault => ({
  ...fault,
  async inject(context): Promise<void> {
    for (const { disk, scenario, recorder } of context.volumes) {
      const { calls } = scenario.disk;
      const about = {
        type: 'action',
        actor: 'runner',
        name: 'answer calls',
        detail: calls,
      } as const;
      recorder.record({ ...about, step: 'begin' });
      await disk.answerCalls(calls);
      recorder.record({ ...about, step: 'done' });
    }
    await fault.inject(context);
  },
});

/** `own`: a caller's, in place of the scenario's first. */
export function wholeFaultOf({ fault, also, disk }: Scenario, own?: Fault): Fault {
  const first = askedAgain(own ?? faultOf(faultNamed(fault.kind)));
  const whole =
    also.kind === 'none'
      ? first
      : withSecond(
          first,
          askedAgain(faultOf({ ...faultNamed(also.kind), name: alsoNameOf({ also }) })),
        );
  const answered = disk.calls === fields['disk.calls'].stock ? whole : withCalls(whole);
  return fault.serverKills === 0 ? answered : withServerKills(answered);
}
