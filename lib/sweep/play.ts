/**
 * Plays one scenario on the model, synchronously, and says what came of it: the runner's phases (fault, remedy, watch,
 * first image, heal, converge, second image) without a history.
 */
import {
  msUs,
  auditUs,
  Kernel,
  measuredTimes,
  type NodeObject,
  type PodObject,
  neverReady,
  readyWithinMs,
  startModel,
  type Model,
  type ModelSize,
  secondUs,
} from '../sim/index.ts';
import {
  CallBook,
  fields,
  linkStateOf,
  drainMs,
  mendsAtOf,
  staysBroken,
  turnsMsOf,
  type FaultAct,
  type FaultDeclaration,
  type RemedyAct,
  type RemedyDeclaration,
  faultNamed,
  type DeclaredFault,
  remedyNamed,
  type Scenario,
  recreationMs,
  registrationMs,
  restartMs,
  servingCommits,
  strikesNode,
  strikesOther,
} from '../scenario/index.ts';
import { kubernetesTimes, outOfServiceTaint } from '../core/index.ts';
import {
  Scene,
  SweepClient,
  Commits,
  type CopyLoss,
  TraceRecorder,
  type Trace,
  type Victim,
} from './scene.ts';
import { mysql } from '../mysql/index.ts';

// The effects of faults and remedies on the model, without promises: the same declarations that the run plays
// through the ports. test/contract/both-players.test.ts holds the two to the same verdict.

const nothing = (): void => undefined;

/** The node that a fault strikes. */
type Target = Pick<Scene, 'machine' | 'model' | 'victim' | 'scenario'>;

/** `turn`: how often it was done before. */
const faultActs: Readonly<Record<FaultAct, (target: Target, turn: number, scene: Scene) => void>> =
  {
    nothing,
    disconnect({
      machine,
      model,
      victim,
      scenario: {
        fault: { link },
      },
    }) {
      machine.setConnected(false);
      if (link !== 'survives') model.volume.setLink(victim.node, linkStateOf[link]);
    },
    reconnect({ machine, model, victim }) {
      model.volume.setLink(victim.node, 'pass');
      machine.setConnected(true);
    },
    isolate: ({ machine }) => machine.setIsolated(true),
    rejoin: ({ machine }) => machine.setIsolated(false),
    freeze: ({ machine }) => machine.freeze(),
    thaw: ({ machine }) => machine.thaw(),
    'stall kubelet': ({ machine }) => machine.stall('kubelet'),
    'stall containerd': ({ machine }) => machine.stall('containerd'),
    'stall runtime': ({ machine }) => machine.stall('runtime'),
    'resume agents': ({ machine }) => machine.resume(),
    'restart kubelet': ({ machine }) => machine.restartKubelet(),
    throttle: ({ machine, scenario }) => machine.throttle(scenario.fault.cpuShare),
    unthrottle: ({ machine }) => machine.unthrottle(),
    'set clock back': ({ machine, scenario }) =>
      machine.setClockBack(scenario.fault.clockBack * msUs),
    'set clock right': ({ machine }) => machine.setClockBack(0),
    crash({ machine, model, victim, scenario }) {
      // As in lib/run/faults/declared.ts: a database that dies of the cut is not reported.
      machine.stall('kubelet');
      model.volume.losePower(victim.node, scenario.fault.powerLoss);
      machine.kill();
      model.volume.renew(victim.node);
    },
    boot: ({ machine }) => machine.start(),
    'shut down'({ machine, victim, scenario }, _, scene) {
      if (scenario.fault.drainFor > 0) drainFor(scene, victim.node, scenario.fault.drainFor);
      machine.shutDown();
    },
    'hang in shutdown': ({ machine }) => machine.stall('runtime'),
    'power cycle'({ machine, model, victim, scenario }) {
      machine.kill();
      machine.start();
      if (scenario.fault.drainFor > 0) model.operator.uncordon(victim.node);
    },
    'kill controller-manager': ({ model }) => model.controlPlane.kill(),
    'fail over controller-manager': ({ model }) => model.controlPlane.failOver(),
    'await controller-manager': nothing,
    'stall controller-manager': ({ model }) => model.controlPlane.stall('controller-manager'),
    'resume controller-manager': ({ model }) => model.controlPlane.resume('controller-manager'),
    'stall control-plane': ({ model }) => model.controlPlane.stall('control-plane'),
    'resume control-plane': ({ model }) => model.controlPlane.resume('control-plane'),
    'stall api-server': ({ model }) => model.controlPlane.stall('api-server'),
    'resume api-server': ({ model }) => model.controlPlane.resume('api-server'),
    'stall attacher': ({ model }) => model.controlPlane.stall('attacher'),
    'resume attacher': ({ model }) => model.controlPlane.resume('attacher'),
    'annotate lease': ({ model, victim }, turn) =>
      model.operator.annotateLease(victim.node, `${turn}`),
    'clear lease': ({ model, victim }) => model.operator.annotateLease(victim.node, undefined),
  };

/** What the runner takes to prove each claim, and for its next command. */
function provingUs(
  { model }: Scene,
  { isOfControlPlane }: FaultDeclaration,
  { length: claims }: readonly unknown[],
): number {
  const { machineCommand, controlPlaneCommand } = measuredTimes;
  let us = 0;
  for (let n = 0; n <= claims; n++)
    us += model.world.chance.within(isOfControlPlane ? controlPlaneCommand : machineCommand);
  return us;
}

/** Breaks, and goes on until it is mended. Returns what mends it, once. */
export function strike(scene: Scene, fault: FaultDeclaration, target: Target = scene): () => void {
  const { breaks, mends, repeatsMs, broken, whole } = fault;
  const { scenario } = scene;
  const turnsMs = turnsMsOf(fault, scenario);
  const mendsAt = mendsAtOf(fault, scenario);
  let isBroken = true;
  const mend = (): void => {
    if (!isBroken) return;
    isBroken = false;
    if (!staysBroken(fault, scenario)) faultActs[mends](target, 0, scene);
  };
  const later = (us: number, act: () => void): void =>
    scene.during(us, () => {
      if (isBroken) act();
    });
  const turn = ([brokenMs = 0, wholeMs = 0]: readonly number[]): void =>
    later(brokenMs * msUs + provingUs(scene, fault, broken), () => {
      faultActs[mends](target, 0, scene);
      later(wholeMs * msUs + provingUs(scene, fault, whole), () => {
        faultActs[breaks](target, 0, scene);
        turn([brokenMs, wholeMs]);
      });
    });
  const repeat = (everyMs: number, count: number): void =>
    later(everyMs * msUs, () => {
      faultActs[breaks](target, count, scene);
      repeat(everyMs, count + 1);
    });
  faultActs[breaks](target, 0, scene);
  if (turnsMs !== undefined) turn(turnsMs);
  if (repeatsMs !== undefined) repeat(repeatsMs, 1);
  if (mendsAt !== undefined) scene.at(mendsAt, mend);
  return mend;
}

/** Cordons a node and evicts its pods. */
export function drain({ model }: Scene, node: string): void {
  model.operator.cordon(node);
  model.operator.evict(node);
}

/** The same, until they are gone or the time is over. */
function drainFor(scene: Scene, node: string, mostMs: number): void {
  const { api } = scene.model;
  const leaving = [...api.node(node).pods];
  const deadlineUs = scene.nowUs + mostMs * msUs;
  drain(scene, node);
  // Whoever drains looks once a second.
  while (leaving.some((pod) => api.pods.has(pod)) && scene.nowUs < deadlineUs)
    scene.advance(scene.nowUs + secondUs);
}

const remedyActs: Readonly<Record<RemedyAct, (scene: Scene) => void>> = {
  'delete pod': ({ model, victim }) => model.operator.deletePod(victim.uid),
  'force-delete pod': ({ model, victim }) => model.operator.forceDelete(victim.uid),
  'strip pod finalizers': ({ model, victim }) => model.operator.stripPodFinalizers(victim.uid),
  'restart rollout': ({ model }) => model.operator.restartRollout(0),
  'taint out-of-service': ({ model, victim }) =>
    model.operator.taint(victim.node, outOfServiceTaint),
  untaint: ({ model, victim }) => model.operator.untaint(victim.node, outOfServiceTaint.key),
  'cut paths': ({ model: { volume }, victim }) => volume.cut(volume.pathsOf(victim.node)),
  'power off': (scene) => faultActs.crash(scene, 0, scene),
  'delete node': ({ model, victim }) => model.operator.deleteNode(victim.node),
  'register node'({ model, victim, machine }) {
    if (model.api.node(victim.node).exists || machine.state !== 'running') return;
    machine.restartKubelet();
  },
  drain: (scene) => drain(scene, scene.victim.node),
  uncordon: ({ model, victim }) => model.operator.uncordon(victim.node),
  'delete attachments': ({ model, victim }) =>
    void model.operator.deleteAttachments(victim.node, { stripFinalizers: false }),
  'strip attachments': ({ model, victim }) =>
    void model.operator.deleteAttachments(victim.node, { stripFinalizers: true }),
};

/** Acts. Returns whether whoever applies it is done with that: a drain waits for the pod. */
export function apply(scene: Scene, { acts }: RemedyDeclaration): () => boolean {
  const { api } = scene.model;
  const leaving = api.podWithUid(scene.victim.uid);
  for (const act of acts) remedyActs[act](scene);
  if (!acts.includes('drain') || leaving === undefined) return () => true;
  const untilUs = scene.nowUs + drainMs * msUs;
  scene.after(drainMs * msUs, nothing);
  return () => scene.nowUs >= untilUs || !api.pods.has(leaving);
}

export function undo(scene: Scene, remedy: RemedyDeclaration): void {
  if (remedy.undo !== undefined) remedyActs[remedy.undo](scene);
}

export interface ScheduleOutcome {
  readonly scenario: Scenario;
  readonly seed: string;
  /** The victim's number in the trace. */
  readonly victim: number;
  /** Since the fault began; undefined where no other node mounted the volume before the heal. */
  readonly secondMountUs: number | undefined;
  /** Another node mounted the volume while the victim, alive, still had it mounted. */
  readonly dualMount: boolean;
  /** How long two nodes could write. */
  readonly overlapUs: number;
  readonly first: CopyLoss;
  readonly second: CopyLoss;
  /** A database that stays served again within the scenario's bound after the heal. */
  readonly converged: boolean;
  /** Since the fault began; undefined where no remedy acted before the heal. */
  readonly remediedUs: number | undefined;
  /** Since then, after the fault, the victim could write no more; undefined where it still could at the heal. */
  readonly fencedUs: number | undefined;
  /** At the end an attachment is on its way out, or on a node where no pod wants it. */
  readonly stuck: boolean;
  /** Times in the trace are absolute; this is the fault's. */
  readonly faultAtUs: number;
  readonly healedAtUs: number;
  readonly endedAtUs: number;
  readonly trace: Trace;
}

/** A schedule lasts at least so long from its fault on. */
const leastUs = 900 * secondUs;

interface PlayOptions extends ModelSize {
  /** Default: the scenario's. */
  readonly fault?: DeclaredFault;
  readonly remedy?: RemedyDeclaration;
}

export function play(scenario: Scenario, seed: string, options: PlayOptions = {}): ScheduleOutcome {
  const { fault = faultNamed(scenario.fault.kind), remedy = remedyNamed(scenario.remedy.kind) } =
    options;
  const scene = begin(scenario, seed, { ...options, fault });
  const { faultAtUs, witness, victim, commits } = scene;
  const { calls } = scenario.disk;
  if (calls !== fields['disk.calls'].stock) scene.model.volume.calls = new CallBook(calls);
  const mend = scene.client.around(() => strike(scene, fault));
  // What is done in order takes its time, and the runner waits for it.
  while (scene.machine.shuttingDown) scene.advance(scene.nowUs + secondUs);
  const also = startAlso(scene);
  if (scenario.remedy.sameNode) moveBack(scene);
  const remedyRun = startRemedy(scene, remedy);
  if (scenario.fault.recreations > 0) recreate(scene);
  else watch(scene, remedyRun, also);
  scene.advance(Math.max(scene.nowUs, faultAtUs + fault.leastMs * msUs));
  scene.endWatch();
  while (also.isComing) scene.advance(scene.nowUs + secondUs, () => !also.isComing);
  scene.advance(scene.nowUs + provingUs(scene, fault, fault.broken));
  const handoverAtUs = witness.secondMountAtUs;
  const first = commits.lossNow();
  copyFrozen(scene, scene.model.nodes);
  if (scenario.remedy.moveBack) moveBack(scene);
  const healedAtUs = scene.nowUs;
  const { actedAtUs } = remedyRun;
  const { fencedAtUs } = scene;
  also.mend();
  if (actedAtUs !== undefined && remedy.endsMachine === true) scene.machine.start();
  mend();
  scene.advance(scene.nowUs + provingUs(scene, fault, fault.whole));
  if (scenario.remedy.untaintAt === 'heal') undo(scene, remedy);
  const converged = converge(scene);
  scene.client.isSettled = true;
  const boundUs = healedAtUs + scenario.watch.converge * msUs;
  if (scenario.remedy.untaintAt === 'kept') scene.advance(Math.max(scene.nowUs, boundUs));
  undo(scene, remedy);
  if (!staysBroken(fault, scenario)) {
    const node = scene.model.api.node(victim.node);
    const isReady = (): boolean => node.exists && node.ready === 'True';
    scene.advance(Math.max(boundUs, scene.nowUs + registrationMs * msUs), isReady);
  }
  // What a run would see: it ends here.
  const { overlapUs } = scene;
  const second = commits.lossNow();
  const sinceFault = (atUs: number | undefined): number | undefined =>
    atUs === undefined ? undefined : atUs - faultAtUs;
  for (const node of othersOf(scene)) scene.model.operator.uncordon(node);
  scene.advance(Math.max(scene.nowUs + registrationMs * msUs, faultAtUs + leastUs));
  return {
    ...{ scenario, seed, victim: victim.index, faultAtUs, healedAtUs, converged },
    ...{ first, second, overlapUs },
    secondMountUs: sinceFault(handoverAtUs),
    remediedUs: sinceFault(actedAtUs),
    fencedUs: sinceFault(fencedAtUs),
    dualMount: witness.dualMount,
    stuck: isStuck(scene),
    endedAtUs: scene.nowUs,
    trace: witness.trace,
  };
}

/** From nothing to a database that has served for the scenario's warm-up, and while its steady image is audited. */
function begin(
  scenario: Scenario,
  seed: string,
  { fault, ...size }: ModelSize & { readonly fault: FaultDeclaration },
): Scene {
  const kernel = new Kernel();
  const model = startModel(kernel, scenario, seed, { ...size, database: mysql });
  const witness = new TraceRecorder(model);
  const readyPod = (): PodObject | undefined => {
    const pod = model.api.databasePod();
    return pod?.ready === true ? pod : undefined;
  };
  while (readyPod() === undefined && kernel.nowUs < readyWithinMs * msUs && kernel.step());
  const first = readyPod();
  if (first?.node === undefined) throw neverReady(seed);
  const commits = new Commits(model, first.node.index);
  const client = new SweepClient({ model, scenario, witness, commits });
  const victim = victimOf(first, first.node);
  const scene = new Scene({ model, scenario, witness, commits, client, victim });
  while (scenario.load.rate !== 0 && commits.acked === 0 && kernel.step());
  scene.advance(kernel.nowUs + scenario.watch.warmup * msUs);
  copyFrozen(scene, [victim.node]);
  scene.advance(kernel.nowUs + auditUs);
  // A grace period that is shorter than the silence after the copy may have moved it.
  const now = model.api.databasePod();
  const pod = now?.node === undefined ? first : now;
  killServers(model, pod, scenario.fault.serverKills);
  // As the runner's, right before the fault: its sync takes with it what commits hold back.
  if (scenario.load.rate !== 0) model.serverOn(first.node.name)?.changeSchema(nothing);
  scene.advance(kernel.nowUs + provingUs(scene, fault, fault.whole));
  scene.begin(pod, victimOf(pod, pod.node ?? first.node));
  return scene;
}

const victimOf = ({ uid }: PodObject, { name: node, index }: NodeObject): Victim => ({
  ...{ node, index, uid },
});

/**
 * Nodes stand still while the volume is copied, and their kubelets are silent for a while after it: that is left
 * out where nothing is so short that it could end meanwhile.
 */
function copyFrozen(scene: Scene, nodes: readonly string[]): void {
  const { world, machine, volume } = scene.model;
  const { graceUs, leaseRenewUs } = world.settings;
  const { selfFence, selfFenceAfterUs } = world.of(volume.index);
  const silentUs = leaseRenewUs + measuredTimes.copy.maxUs + measuredTimes.resume.maxUs;
  const patienceUs = selfFence.kind === 'off' ? graceUs : Math.min(graceUs, selfFenceAfterUs);
  const frozen = patienceUs > silentUs ? [] : nodes;
  const machines = frozen.map(machine).filter(({ state }) => state === 'running');
  for (const each of machines) each.freeze();
  scene.advance(scene.nowUs + world.chance.within(measuredTimes.copy));
  for (const each of machines) each.thaw();
}

/** Kills the pod's server so often; after the last time its container is reported as waiting. */
function killServers(model: Model, pod: PodObject, kills: number): void {
  const { kernel } = model;
  const until = (isSo: () => boolean): void => {
    const deadlineUs = kernel.nowUs + restartMs * msUs;
    while (!isSo() && kernel.nowUs < deadlineUs && kernel.step());
  };
  for (let left = kills; left > 0; left--) {
    until(() => pod.ready);
    model
      .kubelet(pod.node?.name ?? '')
      .container()
      ?.killServer();
    until(() => !pod.ready);
  }
  until(() => kills === 0 || !pod.containersRun);
}

interface SecondFault {
  /** Its moment has come, and the runner is about to begin it. */
  isComing: boolean;
  /** It has been mended, or there is none. */
  isOver: boolean;
  /** Once, where it came. */
  mend: () => void;
}

/** The second fault, once its moment has come and the runner has proven what it takes away. */
function startAlso(scene: Scene): SecondFault {
  const { also } = scene.scenario;
  const isAwaited = strikesNode(scene.scenario);
  const run: SecondFault = { isComing: false, isOver: !isAwaited, mend: nothing };
  if (also.kind === 'none') return run;
  const second = faultNamed(also.kind);
  const { breaks, whole, broken } = second;
  // The runner looks which process it kills.
  const looks = ['kill controller-manager', 'fail over controller-manager'];
  const before = looks.includes(breaks) ? [...whole, breaks] : whole;
  const begin = (target: Target): void => {
    run.isComing = false;
    run.mend = strike(scene, second, target);
    scene.during(also.for * msUs + provingUs(scene, second, broken), () => {
      run.mend();
      run.isOver = true;
    });
  };
  scene.at(also.at, () => {
    const target = aimed(scene);
    run.isOver ||= target === undefined;
    if (target === undefined) return;
    run.isComing = true;
    scene.after(provingUs(scene, second, before), () => begin(target));
  });
  return run;
}

/** The node that the second fault strikes; undefined where it is not there. */
function aimed(scene: Scene): Target | undefined {
  const { model, scenario } = scene;
  if (!strikesOther(scenario)) return scene;
  const host = model.api.databasePod()?.node?.name;
  const isSuccessor = scenario.also.on === 'successor';
  const node = othersOf(scene).find((each) => (each === host) === isSuccessor);
  if (node === undefined) return undefined;
  const victim = { node, index: model.nodes.indexOf(node), uid: '' };
  return { model, scenario, victim, machine: model.machine(node) };
}

interface AppliedRemedy {
  actedAtUs: number | undefined;
  /** Whoever applies it is done with that. */
  isDone: () => boolean;
}

function startRemedy(scene: Scene, remedy: RemedyDeclaration): AppliedRemedy {
  const {
    remedy: { at: remedyAt, ifOff, untaintAt },
  } = scene.scenario;
  const isNone = remedy.acts.length === 0;
  const run: AppliedRemedy = { actedAtUs: undefined, isDone: () => isNone };
  if (isNone) return run;
  const act = (): void => {
    // Whoever asks the cloud about the machine asks it again.
    if (ifOff && scene.machine.state !== 'stopped')
      return scene.during(kubernetesTimes.cloudLookUs, act);
    run.isDone = apply(scene, remedy);
    run.actedAtUs = scene.nowUs;
    if (typeof untaintAt === 'number') scene.during(untaintAt * msUs, () => undo(scene, remedy));
  };
  // It has nothing to give away any more once another node has the volume.
  if (ifOff) run.isDone = () => scene.witness.secondMountAtUs !== undefined;
  scene.at(remedyAt, act);
  return run;
}

/** Until the remedy is done and the successor has served for a while, or the horizon ends. */
function watch(scene: Scene, remedyRun: AppliedRemedy, also: SecondFault): void {
  const { scenario, witness, commits, faultAtUs } = scene;
  const deadlineUs = faultAtUs + scenario.watch.horizon * msUs;
  if (!scene.advance(deadlineUs, () => remedyRun.isDone())) return;
  if (!scene.advance(deadlineUs, () => witness.secondMountAtUs !== undefined)) return;
  const patienceUs = scene.nowUs + scenario.watch.patience * msUs;
  const before = commits.bySuccessors;
  const serves = (): boolean => commits.bySuccessors >= before + servingCommits;
  for (const untilUs = Math.min(deadlineUs, patienceUs); scene.nowUs < untilUs && !serves(); ) {
    scene.advance(Math.min(untilUs, scene.nowUs + secondUs));
  }
  if (serves()) scene.advance(scene.nowUs + scenario.watch.overlap * msUs);
  if (!also.isOver) scene.advance(deadlineUs, () => also.isOver);
}

const othersOf = ({ model, victim }: Scene): string[] =>
  model.nodes.filter((node) => node !== victim.node);

/** Every other node is drained, one after the other, so that the healed victim gets the volume back. */
function moveBack(scene: Scene): void {
  for (const node of othersOf(scene)) drainFor(scene, node, drainMs);
  scene.advance(scene.nowUs + drainMs * msUs, () => scene.witness.othersEmpty);
}

/** The pod is deleted again and again, by turns as usual and by force, and stays on its node. */
function recreate(scene: Scene): void {
  const { model, scenario } = scene;
  moveBack(scene);
  for (let round = 0; round < scenario.fault.recreations; round++) {
    const old = model.api.databasePod();
    if (old === undefined) return;
    if (round % 2 === 1) model.operator.forceDelete(old.uid);
    else model.operator.deletePod(old.uid);
    const isReady = (): boolean => {
      const pod = model.api.databasePod();
      return pod !== old && pod?.ready === true;
    };
    scene.advance(scene.nowUs + recreationMs * msUs, isReady);
  }
}

/** Whether a pod that stays is Ready and serves, and one node at most has the volume. */
function converge(scene: Scene): boolean {
  const { model, witness, scenario } = scene;
  const serves = (): boolean => {
    const pod = model.api.databasePod();
    return (
      pod?.ready === true &&
      !pod.terminating &&
      pod.node !== undefined &&
      model.serverOn(pod.node.name) !== undefined &&
      witness.mountedOnce
    );
  };
  return scene.advance(scene.nowUs + scenario.watch.converge * msUs, serves);
}

/** An attachment is on its way out, or on a node where no pod wants it. */
function isStuck({ model }: Scene): boolean {
  const wanted = model.api.databasePod()?.node;
  return model.api.attachments.some(({ deleting, node }) => deleting || node !== wanted);
}
