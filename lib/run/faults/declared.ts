/** A declared fault, played on the ports. The sweep plays the same declaration on the model (lib/sweep/play.ts). */
import { type Capability, whenInWords } from '../../core/index.ts';
import { canaryContent } from '../../history/index.ts';
import {
  certify,
  onEach,
  type Probe,
  type StruckVolume,
  type LastingContext,
  type Proofs,
  stepOf,
  type Fault,
  type FaultContext,
  type Moments,
  withMachine,
} from './fault.ts';
import { componentProbe, proven, probes } from './probes.ts';
import {
  type FaultAct,
  lastingProbes,
  mendsAtOf,
  staysBroken,
  turnsMsOf,
  type DeclaredFault,
  type FaultProbe,
} from '../../scenario/index.ts';

type Context = LastingContext<Capability>;
/** `turn`: how often it was done before. Resolves to the certificates of what it proved itself, if any. */
type Act = (context: Context, turn: number) => Promise<Proofs | void>;

const nothing = (): Promise<void> => Promise.resolve();

const provenBy =
  ({ recorder }: StruckVolume, fault: string, moment: 'during' | 'after', ...probes: Probe[]) =>
  (): Promise<void> =>
    certify(recorder, fault, moment, probes);

const severed = {
  stalls: 'the victim’s path to the disk stalls: its requests are held',
  errors: 'the victim’s path to the disk fails: its requests are I/O errors',
} as const;

async function disconnect({ machine, victim, volumes, name }: Context): Promise<Proofs> {
  await machine.disconnect();
  return onEach(volumes, async (volume) => {
    const { fault } = volume.scenario;
    if (fault.link === 'survives') return nothing;
    const path = await volume.disk.sever(victim.node, fault.link);
    return provenBy(volume, name, 'during', proven(severed[fault.link], path));
  });
}

/**
 * One cable: both come back together. The storage is first, since a disk driver's retries get
 * through at once while a kubelet takes seconds to connect again. The other way round Kubernetes
 * could end the old database before its held writes arrive, which no cable grants.
 */
async function reconnect({ machine, victim, volumes, name }: Context): Promise<Proofs> {
  try {
    return await onEach(volumes, async (volume) => {
      if (volume.scenario.fault.link === 'survives') return nothing;
      const path = await volume.disk.restore(victim.node);
      return provenBy(volume, name, 'after', proven('the victim’s path to the disk is back', path));
    });
  } finally {
    await machine.reconnect();
  }
}

const lost = {
  keeps: 'what the disk had acknowledged is kept',
  drops: 'what it had not flushed is dropped',
  reorders: 'of what it had not flushed some is kept, out of order',
  tears: 'what it had not flushed is dropped, but for half a write',
} as const;

async function crash({ machine, victim: { node }, volumes, name }: Context): Promise<Proofs> {
  // A database that dies of the cut must not be reported: its volume would be detached by itself.
  await machine.stall('kubelet');
  const proofs = await onEach(volumes, async (volume) => {
    const cut = await volume.disk.losePower(node, canaryContent);
    const claim = `the disk was cut off before the kill; ${lost[volume.scenario.fault.powerLoss]}`;
    return provenBy(volume, name, 'during', proven(claim, cut));
  });
  await machine.kill();
  return [
    async () => {
      await onEach(volumes, ({ disk }) => disk.releaseDead(node));
    },
    ...proofs,
  ];
}

async function restartKubelet({ machine, recorder, name }: Context): Promise<Proofs> {
  const { before, after } = await machine.restartKubelet();
  const verified = before !== after && before !== undefined && after !== undefined;
  const evidence = `process ${before ?? 'none'}, then ${after ?? 'none'}`;
  const probe = proven('another kubelet runs', { verified, evidence });
  return [() => certify(recorder, name, 'during', [probe])];
}

const manager = 'controller-manager';

const endManager =
  (verb: 'kill' | 'failOver') =>
  async ({ testbed: { controlPlane }, recorder, name }: Context): Promise<Act> => {
    const before = (await controlPlane.look(manager)).process;
    const claim = `process ${before} of the controller manager is gone`;
    const isGone = componentProbe(
      controlPlane,
      manager,
      claim,
      ({ process }) => process !== before,
    );
    return async () => {
      await controlPlane[verb]();
      return [() => certify(recorder, name, 'during', [isGone])];
    };
  };

/** A kubelet starts a static pod's container again within seconds. */
const restartWithinMs = 60_000;

async function awaitManager({ testbed: { clock, controlPlane } }: Context): Promise<void> {
  const deadlineMs = clock.nowMs() + restartWithinMs;
  while ((await controlPlane.look(manager)).process === undefined) {
    if (clock.nowMs() >= deadlineMs) return;
    await clock.sleep(1000);
  }
}

/** What these do before the fault begins, and then. */
const prepared = {
  async crash({ volumes, victim }: Context): Promise<Act> {
    await onEach(volumes, ({ disk }) => disk.writeSyncedCanary(victim.node, canaryContent));
    return crash;
  },
  'kill controller-manager': endManager('kill'),
  'fail over controller-manager': endManager('failOver'),
};

async function drain({ testbed, victim: { node }, recorder, scenario }: Context): Promise<void> {
  const { drained, answer } = await testbed.kubernetes.drain(node, scenario.fault.drainFor);
  const detail = `${drained ? 'drained' : 'not drained'}: ${answer}`;
  recorder.record({ type: 'action', actor: 'runner', name: 'drain', step: 'done', node, detail });
}

/** systemd ends what does not stop within 90 s (DefaultTimeoutStopSec). */
const systemStopMs = 120_000;

async function shutDown(context: Context): Promise<void> {
  const { machine, victim, volumes, scenario } = context;
  if (scenario.fault.drainFor > 0) await drain(context);
  await machine.shutDown(scenario.fault.shutdownGrace + systemStopMs);
  // A kernel unmounts what the last process had a moment after that ended.
  if ((await machine.state()) === 'stopped')
    await onEach(volumes, ({ disk }) => disk.releaseDead(victim.node));
}

const acts: Readonly<Record<Exclude<FaultAct, keyof typeof prepared>, Act>> = {
  nothing,
  disconnect,
  reconnect,
  isolate: ({ machine }) => machine.isolate(),
  rejoin: ({ machine }) => machine.rejoin(),
  freeze: ({ machine }) => machine.freeze(),
  thaw: ({ machine }) => machine.thaw(),
  'stall kubelet': ({ machine }) => machine.stall('kubelet'),
  'stall containerd': ({ machine }) => machine.stall('containerd'),
  'stall runtime': ({ machine }) => machine.stall('runtime'),
  'resume agents': ({ machine }) => machine.resume(),
  'restart kubelet': restartKubelet,
  throttle: ({ machine, scenario }) => machine.throttle(scenario.fault.cpuShare),
  unthrottle: ({ machine }) => machine.unthrottle(),
  'set clock back': ({ machine, scenario }) => machine.setClockBack(scenario.fault.clockBack),
  'set clock right': ({ machine }) => machine.setClockBack(0),
  boot: ({ machine }) => machine.start(),
  'shut down': shutDown,
  async 'hang in shutdown'({ machine, recorder, name }) {
    const hung = await machine.hangInShutdown();
    const probe = proven('kubelet and containerd have ended, and the shutdown has not', hung);
    return [() => certify(recorder, name, 'during', [probe])];
  },
  async 'power cycle'({ testbed, machine, victim, scenario }) {
    await machine.kill();
    await machine.start();
    if (scenario.fault.drainFor > 0) await testbed.kubernetes.uncordon(victim.node);
  },
  'await controller-manager': awaitManager,
  'stall controller-manager': ({ testbed }) => testbed.controlPlane.stall(manager),
  async 'resume controller-manager'(context) {
    await context.testbed.controlPlane.resume(manager);
    await awaitManager(context);
  },
  'stall control-plane': ({ testbed }) => testbed.controlPlane.stall('control-plane'),
  'resume control-plane': ({ testbed }) => testbed.controlPlane.resume('control-plane'),
  'stall api-server': ({ testbed }) => testbed.controlPlane.stall('api-server'),
  'resume api-server': ({ testbed }) => testbed.controlPlane.resume('api-server'),
  'stall attacher': ({ testbed }) => testbed.controlPlane.stall('attacher'),
  'resume attacher': ({ testbed }) => testbed.controlPlane.resume('attacher'),
  'annotate lease': ({ testbed, victim }, turn) =>
    testbed.kubernetes.annotateLease(victim.node, `${turn}`),
  'clear lease': ({ testbed, victim }) => testbed.kubernetes.annotateLease(victim.node, undefined),
};

const actOf = async (act: FaultAct, context: Context): Promise<Act> =>
  act in prepared
    ? prepared[act as keyof typeof prepared](context)
    : acts[act as keyof typeof acts];

export function faultOf(declared: DeclaredFault): Fault {
  const { name, leastMs, whole, broken, mendsAt, isOverAtOnce } = declared;
  const lasts = lastingProbes(declared);
  const within = (given: FaultContext<Capability>): Context => withMachine(name, given);
  const certified = (
    context: Context,
    moment: 'before' | 'during' | 'after',
    claims: readonly FaultProbe[],
  ): Promise<void> =>
    certify(
      context.recorder,
      name,
      moment,
      claims.map((claim) => probes[claim](context)),
    );

  async function mend(context: Context): Promise<void> {
    const step = stepOf(name, context);
    // It is broken from its begin until here.
    if (mendsAt !== undefined) await certified(context, 'during', broken);
    step('heal');
    const act = await actOf(declared.mends, context);
    const proofs = await act(context, 0);
    step('healed');
    await certified(context, 'after', declared.mended ?? whole);
    for (const prove of proofs ?? []) await prove();
  }

  async function goOn(context: Context, moments: Moments): Promise<void> {
    const { repeatsMs, breaks, mends } = declared;
    const { scenario } = context;
    const doAgain = async (act: typeof breaks, turn: number): Promise<unknown> =>
      (await actOf(act, context))(context, turn);
    const at = mendsAtOf(declared, scenario);
    if (at !== undefined) {
      if (await moments.reached(at)) return mend(context);
      stepOf(name, context)('failed', `the watch was over before it booted: ${whenInWords(at)}`);
    }
    if (repeatsMs !== undefined) {
      for (let turn = 1; await moments.passed(repeatsMs); turn += 1) await doAgain(breaks, turn);
    }
    const turnsMs = turnsMsOf(declared, scenario);
    if (turnsMs !== undefined) {
      const [brokenMs, wholeMs] = turnsMs;
      for (;;) {
        if (!(await moments.passed(brokenMs ?? 0))) return;
        await doAgain(mends, 0);
        await certified(context, 'during', whole);
        if (!(await moments.passed(wholeMs ?? 0))) return;
        await doAgain(breaks, 0);
        await certified(context, 'during', broken);
      }
    }
  }

  return {
    name,
    leastMs,

    async inject(given): Promise<void> {
      const context = within(given);
      const step = stepOf(name, context);
      await certified(context, 'before', whole);
      const act = await actOf(declared.breaks, context);
      step('begin');
      const proofs = await act(context, 0);
      step('done');
      for (const prove of proofs ?? []) await prove();
      await certified(context, 'during', broken);
    },

    ...(lasts.length === 0
      ? {}
      : {
          holds: (given) => {
            const context = within(given);
            return lasts.map((claim) => probes[claim](context));
          },
        }),

    goOn: (given, moments) => goOn(within(given), moments),

    async heal(given): Promise<void> {
      const context = within(given);
      if (isOverAtOnce === true) {
        await (await actOf(declared.mends, context))(context, 0);
        await certified(context, 'after', whole);
      } else if (staysBroken(declared, context.scenario)) {
        const detail = 'left down, as the scenario says; the clean-up starts it';
        stepOf(name, context)('healed', detail);
      } else if (mendsAt === undefined || (await context.machine.state()) !== 'running') {
        await mend(context);
      }
    },
  };
}
