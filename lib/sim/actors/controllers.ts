/** Controllers that need few words: each has the world, and a process and chance of its own. */
import { isLossTaint, outOfServiceKey } from '../../core/index.ts';
import type { Api } from '../api.ts';
import { type Chance, type Process, coalesced } from '../kernel.ts';
import {
  hasTaint,
  type ApiWatcher,
  type NodeObject,
  type PodObject,
  isOver,
} from '../sightings.ts';
import { type DurationRange, kubernetesTimes, measuredTimes, secondUs } from '../timings.ts';
import { type World, onGrid } from '../world.ts';

export interface ControllerContext {
  readonly world: World;
  readonly process: Process;
  readonly chance: Chance;
  /** It took over from another leader. Default: it has led for long when the model begins. */
  readonly isNew?: boolean;
}

export class Controller {
  readonly world: World;
  readonly api: Api;
  readonly process: Process;
  readonly chance: Chance;
  readonly #isNew: boolean;

  constructor({ world, process, chance, isNew = false }: ControllerContext) {
    this.world = world;
    this.api = world.api;
    this.process = process;
    this.chance = chance;
    this.#isNew = isNew;
  }

  get nowUs(): number {
    return this.world.kernel.nowUs;
  }

  after(range: DurationRange, work: () => void): void {
    this.process.after(this.chance.within(range), work);
  }

  at(atUs: number, work: () => void): void {
    this.process.after(Math.max(0, atUs - this.nowUs), work);
  }

  /**
   * Where the grid of what it does periodically begins: with a new leader, at once
   * (wait.UntilWithContext); of one that has led for long, anywhere.
   */
  gridPhaseUs(periodUs: number): number {
    return this.#isNew ? this.nowUs : this.nowUs - this.chance.int(0, periodUs - 1);
  }
}

/**
 * The pod garbage collector: each 20 s it removes Terminating pods of nodes that are not Ready and
 * carry the out-of-service taint, and pods of nodes that were missing for 40 s
 * (podgc/gc_controller.go gcTerminating, gcOrphaned).
 */
export class PodGc extends Controller implements ApiWatcher {
  readonly #phaseUs = this.gridPhaseUs(kubernetesTimes.podGcUs);
  #tickDue = false;
  /** Missing nodes, and since when they are known to be. */
  readonly #quarantine = new Map<NodeObject, number>();

  constructor(context: ControllerContext) {
    super(context);
    // A new leader's first look is at once, and its quarantine counts from there.
    if (this.api.nodes.some(hasCandidate)) this.#planTick(this.nowUs);
  }

  node(node: NodeObject): void {
    if (hasCandidate(node)) this.#planTick();
  }

  pod(pod: PodObject): void {
    if (isCandidate(pod)) this.#planTick();
  }

  /** Ticks that would find nothing are left out. */
  #planTick(fromUs = this.nowUs + 1): void {
    if (this.#tickDue) return;
    this.#tickDue = true;
    this.at(onGrid(fromUs, this.#phaseUs, kubernetesTimes.podGcUs), () => {
      this.#tickDue = false;
      this.#tick();
    });
  }

  #tick(): void {
    for (const node of this.api.nodes) {
      if (node.exists || node.pods.size === 0) this.#quarantine.delete(node);
      else this.#collectOrphans(node);
    }
    for (const pod of this.api.pods) if (isOutOfService(pod)) this.#remove(pod);
  }

  #collectOrphans(node: NodeObject): void {
    const sinceUs = this.#quarantine.get(node) ?? this.nowUs;
    this.#quarantine.set(node, sinceUs);
    if (this.nowUs - sinceUs < kubernetesTimes.quarantineUs) this.#planTick();
    else for (const pod of node.pods) this.#remove(pod);
  }

  /** Failed first, then gone: DELETE with grace period 0. */
  #remove(pod: PodObject): void {
    this.api.endPod(pod, 'Failed');
    this.after(measuredTimes.apiCall, () => this.api.deletePod(pod, 0));
  }
}

const isOutOfService = ({ node, terminating }: PodObject): boolean =>
  terminating && node !== undefined && node.ready !== 'True' && hasTaint(node, outOfServiceKey);

const isCandidate = (pod: PodObject): boolean => pod.node?.exists === false || isOutOfService(pod);

const hasCandidate = ({ pods }: NodeObject): boolean => [...pods].some(isCandidate);

const isFit = ({ exists, ready, taints }: NodeObject): boolean =>
  exists && ready === 'True' && taints.length === 0;

export class Scheduler extends Controller implements ApiWatcher {
  readonly #pending = new Set<PodObject>();
  readonly #nudge = coalesced(
    this.process.after.bind(this.process),
    this.chance,
    measuredTimes.controllerStep,
    () => this.#schedule(),
  );

  pod(pod: PodObject): void {
    const isPending = pod.node === undefined && !pod.terminating;
    if (isPending) this.#pending.add(pod);
    else this.#pending.delete(pod);
    this.node();
  }

  node(): void {
    if (this.#pending.size > 0) this.#nudge();
  }

  #schedule(): void {
    const fit = this.api.nodes.filter(isFit);
    for (const pod of this.#pending) {
      const chosen = fit[this.chance.int(0, Math.max(0, fit.length - 1))];
      if (chosen === undefined || !this.api.pods.has(pod) || this.#mustWait(pod)) continue;
      this.#pending.delete(pod);
      this.api.bindPod(pod, chosen);
    }
  }

  /** ReadWriteOncePod: not while another pod has the claim (VolumeRestrictions). */
  #mustWait(pod: PodObject): boolean {
    if (this.world.of(pod.workload).volume.accessMode !== 'ReadWriteOncePod') return false;
    const others = [...this.api.podsOf(pod.workload)].filter((other) => other !== pod);
    return others.some(({ node }) => node !== undefined);
  }
}

/**
 * The taint eviction controller: deletes the pods of a node with a NoExecute taint once their
 * toleration is over; counted from when it sees the taint, forgotten when the taint goes, and counted
 * anew by a new leader (pkg/controller/tainteviction).
 */
/** Pods tolerate both taints of a lost node for `tolerationSeconds`, others not at all. */
export class TaintEviction extends Controller implements ApiWatcher {
  /** Evictions that are planned; one that is no longer here never comes. */
  readonly #plans = new Map<PodObject, object>();

  constructor(context: ControllerContext) {
    super(context);
    for (const node of this.api.nodes) this.node(node);
  }

  node(node: NodeObject): void {
    for (const pod of node.pods) this.pod(pod);
  }

  pod(pod: PodObject): void {
    if (!this.#plans.has(pod) && !isPushed(pod)) return;
    this.after(measuredTimes.watchDelay, () => this.#consider(pod));
  }

  #consider(pod: PodObject): void {
    if (!this.api.pods.has(pod) || pod.terminating || !isPushed(pod)) {
      this.#plans.delete(pod);
      return;
    }
    const isTolerated = pod.node?.taints.every(
      ({ key, effect }) => effect !== 'NoExecute' || isLossTaint(key),
    );
    if (isTolerated !== true) this.#evict(pod);
    else if (!this.#plans.has(pod)) this.#plan(pod);
  }

  #plan(pod: PodObject): void {
    const plan = {};
    this.#plans.set(pod, plan);
    this.process.after(this.world.of(pod.workload).tolerationUs, () => {
      if (this.#plans.get(pod) === plan) this.#evict(pod);
    });
  }

  /** A plain DELETE, which no disruption budget stops. */
  #evict(pod: PodObject): void {
    this.#plans.delete(pod);
    const { terminationGraceUs } = this.world.of(pod.workload);
    if (this.api.pods.has(pod)) this.api.deletePod(pod, terminationGraceUs / secondUs);
  }
}

const isPushed = ({ node }: PodObject): boolean =>
  node?.exists === true && node.taints.some(({ effect }) => effect === 'NoExecute');

/** By its kubelet; the pod GC removes by itself what it fails. */
const isEnded = (pod: PodObject): boolean =>
  isOver(pod) && !pod.terminating && pod.node?.exists === true;

/** It counts as a replica: it runs, or will. */
const isWanted = (pod: PodObject): boolean => !pod.terminating && !isOver(pod);

/**
 * What makes pods anew, one a workload. A StatefulSet waits until the old object is gone: its names
 * are unique (stateful_set_control.go processReplica). A ReplicaSet does not count a Terminating pod,
 * and so replaces it at once.
 */
export class Workloads extends Controller implements ApiWatcher {
  readonly #nudges: (() => void)[];

  constructor(context: ControllerContext, workloads: number) {
    super(context);
    const after = this.process.after.bind(this.process);
    this.#nudges = Array.from({ length: workloads }, (_, workload) =>
      coalesced(after, this.chance, measuredTimes.controllerStep, () => this.#reconcile(workload)),
    );
    for (const nudge of this.#nudges) nudge();
  }

  pod({ workload }: PodObject): void {
    if (!this.#isServed(workload) || this.#outdated(workload).length > 0) this.rollout(workload);
  }

  rollout(workload: number): void {
    this.#nudges[workload]?.();
  }

  /** Of an earlier template, and not on their way out. */
  #outdated(workload: number): PodObject[] {
    const revision = this.api.revisionOf(workload);
    if (revision === 0) return [];
    return [...this.api.podsOf(workload)].filter((pod) => pod.revision < revision && isWanted(pod));
  }

  #isDeployment(workload: number): boolean {
    return this.world.of(workload).workload.kind.startsWith('deployment');
  }

  /** There is a pod that counts. */
  #isServed(workload: number): boolean {
    const pods = this.api.podsOf(workload);
    if (!this.#isDeployment(workload)) {
      for (const pod of pods) if (!isEnded(pod)) return true;
      return false;
    }
    for (const pod of pods) if (isWanted(pod)) return true;
    return false;
  }

  #reconcile(workload: number): void {
    const outdated = this.#outdated(workload);
    if (outdated.length > 0) return this.#rollOut(workload, outdated);
    if (this.#isServed(workload) || this.#waitsForOutdated(workload)) return;
    // A StatefulSet deletes them first; the deletion of what is over has no grace period (pod/strategy.go).
    const ended = [...this.api.podsOf(workload)].filter(isEnded);
    if (ended.length > 0 && !this.#isDeployment(workload))
      return ended.forEach((pod) => this.api.deletePod(pod, 0));
    this.#create(workload);
  }

  /**
   * The old pod goes once the new one is Ready, where one more pod may be (rolling.go, maxSurge 25 % of one
   * is one); else it goes first.
   */
  #rollOut(workload: number, outdated: readonly PodObject[]): void {
    const { kind, terminationGrace } = this.world.of(workload).workload;
    const isRolling = kind === 'deployment-rolling-update';
    const newer = [...this.api.podsOf(workload)].filter(
      (pod) => isWanted(pod) && !outdated.includes(pod),
    );
    if (isRolling && newer.length === 0) return this.#create(workload);
    if (isRolling && !newer.some(({ ready }) => ready)) return;
    for (const pod of outdated) this.api.deletePod(pod, terminationGrace / 1000);
  }

  /** Recreate: not before the old pods have ended (recreate.go oldPodsRunning). */
  #waitsForOutdated(workload: number): boolean {
    if (this.world.of(workload).workload.kind !== 'deployment-recreate') return false;
    const revision = this.api.revisionOf(workload);
    return [...this.api.podsOf(workload)].some((pod) => pod.revision < revision && !isOver(pod));
  }

  #create(workload: number): void {
    const finalizer = this.world.of(workload).workload.finalizer;
    this.api.createPod(workload, { uniqueName: !this.#isDeployment(workload), finalizer });
  }
}
