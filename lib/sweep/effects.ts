/**
 * The effects of faults and remedies on the model, without promises: the same declarations that the run plays
 * through the ports. test/contract/both-players.test.ts holds the two to the same verdict.
 */
import { msUs } from '../sim/index.ts';
import {
  linkStateOf,
  drainMs,
  mendsAtOf,
  staysBroken,
  turnsMsOf,
  type FaultAct,
  type FaultDeclaration,
  type RemedyAct,
  type RemedyDeclaration,
} from '../scenario/index.ts';
import { outOfServiceTaint } from '../core/index.ts';
import type { Scene } from './scene.ts';

const nothing = (): void => undefined;

/** `turn`: how often it was done before. */
const faultActs: Readonly<Record<FaultAct, (scene: Scene, turn: number) => void>> = {
  nothing,
  disconnect({ machine, model, victim, scenario: { link } }) {
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
  'stall runtime': ({ machine }) => machine.stall('runtime'),
  'resume agents': ({ machine }) => machine.resume(),
  'restart kubelet': ({ machine }) => machine.restartKubelet(),
  throttle: ({ machine, scenario }) => machine.throttle(scenario.cpuShare),
  unthrottle: ({ machine }) => machine.unthrottle(),
  crash({ machine, model, victim, scenario }) {
    // As in lib/run/faults/declared.ts: a database that dies of the cut is not reported.
    machine.stall('kubelet');
    model.volume.losePower(victim.node, scenario.powerLoss);
    machine.kill();
    model.volume.renew(victim.node);
  },
  boot: ({ machine }) => machine.start(),
  'kill controller-manager': ({ model }) => model.controlPlane.kill('controller-manager'),
  'await controller-manager': nothing,
  'stall api-server': ({ model }) => model.controlPlane.stall('api-server'),
  'resume api-server': ({ model }) => model.controlPlane.resume('api-server'),
  'stall attacher': ({ model }) => model.controlPlane.stall('attacher'),
  'resume attacher': ({ model }) => model.controlPlane.resume('attacher'),
  'annotate lease': ({ model, victim }, turn) =>
    model.operator.annotateLease(victim.node, `${turn}`),
  'clear lease': ({ model, victim }) => model.operator.annotateLease(victim.node, undefined),
};

/** Breaks, and goes on until it is mended. Returns what mends it, once. */
export function strike(scene: Scene, fault: FaultDeclaration): () => void {
  const { breaks, mends, repeatsMs } = fault;
  const { scenario } = scene;
  const turnsMs = turnsMsOf(fault, scenario);
  const mendsAt = mendsAtOf(fault, scenario);
  let isBroken = true;
  const mend = (): void => {
    if (!isBroken) return;
    isBroken = false;
    if (!staysBroken(fault, scenario)) faultActs[mends](scene, 0);
  };
  const later = (ms: number, act: () => void): void =>
    scene.after(ms * msUs, () => {
      if (isBroken) act();
    });
  const turn = ([brokenMs = 0, wholeMs = 0]: readonly number[]): void =>
    later(brokenMs, () => {
      faultActs[mends](scene, 0);
      later(wholeMs, () => {
        faultActs[breaks](scene, 0);
        turn([brokenMs, wholeMs]);
      });
    });
  const repeat = (everyMs: number, count: number): void =>
    later(everyMs, () => {
      faultActs[breaks](scene, count);
      repeat(everyMs, count + 1);
    });
  faultActs[breaks](scene, 0);
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

const remedyActs: Readonly<Record<RemedyAct, (scene: Scene) => void>> = {
  'delete pod': ({ model, victim }) => model.operator.deletePod(victim.uid),
  'force-delete pod': ({ model, victim }) => model.operator.forceDelete(victim.uid),
  'strip pod finalizers': ({ model, victim }) => model.operator.stripPodFinalizers(victim.uid),
  'taint out-of-service': ({ model, victim }) =>
    model.operator.taint(victim.node, outOfServiceTaint),
  untaint: ({ model, victim }) => model.operator.untaint(victim.node, outOfServiceTaint.key),
  'cut paths': ({ model: { volume }, victim }) => volume.cut(volume.pathsOf(victim.node)),
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
  let isOver = false;
  scene.after(drainMs * msUs, () => {
    isOver = true;
  });
  return () => isOver || !api.pods.has(leaving);
}

export function undo(scene: Scene, remedy: RemedyDeclaration): void {
  if (remedy.undo !== undefined) remedyActs[remedy.undo](scene);
}
