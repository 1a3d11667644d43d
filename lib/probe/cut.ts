/**
 * Cuts one node off and watches what becomes of volumes that a pod there writes to, while the next pod
 * wants them. The node heals itself: the heal is armed on it and rehearsed before anything is cut.
 */
import type { ObjectTemplate } from './objects.ts';
import {
  chooseNodes,
  mustBeConfirmed,
  mustBeCuttable,
  mustHaveAttachments,
  mustHaveClass,
} from './refuse.ts';
import { type Home, cutNeeds } from './rights.ts';
import { type UserClients, mustBeAllowed } from '../core/index.ts';
import { type CutCertificate, cutCertificateOf } from './certificate.ts';
import { gatherFacts, topologyOf, type AtLeastOne, type Facts } from './facts.ts';
import { atHome, mark, newHome, newProbeNamespace, ownerNow, removal } from './home.ts';
import {
  bootOf,
  checkScript,
  collectScript,
  cutArming,
  healArming,
  healCommand,
  heard,
  journalFolder,
  latestHealMs,
  type NodeContext,
  nodeIs,
  onHost,
  podShell,
  tidyArming,
  Vantage,
} from './node.ts';
import { VolumePods, startMs, writerProgram } from './pods.ts';
import { lastEvent, nowMs, pause, whileLooking, whyOf } from './view.ts';
import { classifyAll } from './judge/cut.ts';
import type { CutRecord, CutVolume, DraftOf } from './judge/record.ts';
import { type CutPlan, type CutRequest, cutPlanOf, trialPlanOf } from './plan.ts';
import { refusal } from './refusals.ts';

export interface CutOptions extends Omit<CutRequest, 'nodes'> {
  readonly classes: AtLeastOne<string>;
  readonly node: string;
  readonly next?: string;
  /** The node's name once more. */
  readonly confirmed: string | undefined;
  readonly namespace?: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What would be done; makes nothing. Throws UsageError for what is refused, and as `answered` does. */
export async function planCut(
  clients: UserClients,
  options: CutOptions,
): Promise<{ readonly plan: CutPlan; readonly facts: AtLeastOne<Facts> }> {
  const { node, next, classes, way, remedy, healAfterMs, size, image, volumeMode } = options;
  const facts = await gatherFacts(clients, ...classes);
  for (const [index, found] of facts.entries()) {
    mustHaveClass(found, { storageClass: classes[index] ?? '' });
    mustHaveAttachments(found);
  }
  const [some] = facts;
  const others = some.nodes.filter(
    ({ name, ready, schedulable, hasDriver, outOfService }) =>
      name !== node && ready && schedulable && hasDriver && !outOfService,
  );
  const same = others.find(({ name }) => facts.every((each) => isSameTopology(each, node, name)));
  const nodes: [string, string] = [node, next ?? (same ?? others[0])?.name ?? ''];
  for (const each of facts) chooseNodes(each, { nodes });
  await mustBeCuttable(clients, some, nodes);
  const request = { classes, nodes, way, remedy, healAfterMs, size, image, volumeMode };
  return { plan: cutPlanOf(request), facts };
}

function isSameTopology({ nodes }: Facts, ...names: readonly [string, string]): boolean {
  const [a, b] = names.map((name) => nodes.find((node) => node.name === name));
  return a !== undefined && b !== undefined && topologyOf(a) === topologyOf(b);
}

/** A node that is late is waited for as long as its heal takes; then for volumes that nobody let go. */
export const watchMsOf = ({ healAfterMs }: CutPlan): number =>
  2 * latestHealMs(healAfterMs) + handOverMs;

/**
 * Throws as `planCut` does, UsageError `CUT_NOT_CONFIRMED`, InfrastructureError `CUT_HOST`,
 * `CUT_NOT_SEEN`, `CUT_NOT_HEALED`, and as `atHome` does. Whatever comes, it waits for the node's heal.
 */
export async function runCut(clients: UserClients, options: CutOptions): Promise<CutCertificate> {
  const { plan, facts } = await planCut(clients, options);
  const { node, confirmed, namespace, say } = options;
  mustBeConfirmed(node, confirmed);
  const home = newHome(namespace);
  await mustBeAllowed(clients, cutNeeds(home, node, plan.remedy === 'out-of-service'));
  say(
    `namespace ${home.namespace}; if this process is killed: ${node} heals itself, ${removal(home)} removes the rest`,
  );
  const beganAt = new Date();
  const lease = { watchMs: watchMsOf(plan), security: 'privileged' } as const;
  return atHome({ clients, home, say, ...lease }, async () => {
    const record = await inNamespace(clients, home, plan, options);
    const findings = classifyAll(record, plan);
    return cutCertificateOf({ facts, plan, beganAt, record, findings });
  });
}

export type CutDraft = DraftOf<CutRecord>;

export interface CutContext extends NodeContext {
  /** Names what is on the host. */
  readonly run: string;
  readonly plan: CutPlan;
  readonly say: (line: string) => void;
}

async function inNamespace(
  clients: UserClients,
  { namespace, isGiven }: Home,
  plan: CutPlan,
  { say, signal: asked }: CutOptions,
): Promise<CutRecord> {
  const record: CutDraft = { checked: false, looks: [], volumes: [] };
  // What is on the host has a name of this run, whoever else is in the namespace.
  const run = isGiven ? newProbeNamespace() : namespace;
  const parts = { clients, namespace, run, plan, say };
  // Minutes go by until the cut: who has come meanwhile is no less at stake.
  const guard = async (): Promise<void> => {
    const [facts] = await gatherFacts(clients, plan.classes[0] ?? '');
    return mustBeCuttable(clients, facts, plan.nodes, namespace);
  };
  try {
    await whileLooking(clients, namespace, [asked], (seeing) =>
      play({ ...parts, ...seeing }, record, guard),
    );
    return record;
  } finally {
    // The heal is not to be asked for, only awaited; also by who gives up.
    if (record.armedMs !== undefined && !record.checked) {
      await whileLooking(clients, namespace, [], (seeing) =>
        healed({ ...parts, ...seeing }, record),
      );
    }
  }
}

/** Until Kubernetes calls a silent node not Ready: the stock grace is 50 s, clouds' are longer. */
const notReadyMs = 300_000;
const cutSeenMs = 60_000;
/** Time for the host's own clocks, and for the pods that have to come. */
const spareMs = 30_000;
const lateWritesMs = 15_000;

/** Whether the node may still be cut off; throws where not. */
export type Guard = () => Promise<void>;

/** The cut, step by step, and the record of all that was seen. It judges nothing. */
async function play(context: CutContext, record: CutDraft, guard: Guard): Promise<void> {
  const { plan, run, say, signal } = context;
  const [node, next] = plan.nodes;
  const volumes = plan.volumes.map((volume) => new VolumeUnderCut(context, volume));
  await onHost(context, 'prepare', tidyArming(run, plan.healAfterMs));
  say(`writers start on ${node}`);
  const vantage = await Vantage.start(context);
  const writing = await startWriters(volumes, say);
  record.rehearsedMs = await rehearse(context, vantage, guard);
  const said = await arm(context, guard, 'arm', plan.healAfterMs);
  record.armedMs = nowMs();
  noteBoot(record, 'armedBootId', said);
  say(`${node} has armed its heal, twice, for ${plan.healAfterMs / 1000} s from now`);
  record.cutMs = await cutOff(context, 'cut', vantage);
  say(`${next} no longer reaches ${node}`);
  record.notReadyMs = await nodeIs(context, false, notReadyMs);
  record.remedyMs = await remedied(context, writing);
  const leftMs = record.armedMs + plan.healAfterMs - nowMs();
  say(`the next pods wait for the volumes; ${node} is back in ${Math.round(leftMs / 1000)} s`);
  const patienceMs = latestHealMs(plan.healAfterMs) + spareMs;
  record.healedMs = await vantage.until('up', record.notReadyMs, patienceMs);
  say(`${next} reaches ${node} again`);
  await pause(lateWritesMs, signal);
  signal.throwIfAborted();
  const endedMs = nowMs();
  await healed(context, record);
  const lines = await onHost(context, 'collect', collectScript(run));
  await handOver(writing, say);
  const byPod = Map.groupBy(lines, (line) => line.split(' ')[0] ?? '');
  record.volumes = volumes.map((volume) => {
    const writer = volume.pod('writer');
    const own = byPod.get(writer) ?? [];
    return volume.recorded(
      own.map((line) => line.slice(writer.length + 1)),
      endedMs,
    );
  });
  record.looks = vantage.looks;
}

/** What the host said. Throws as `guard` does before anything is armed, and as `onHost`. */
export async function arm(
  context: CutContext,
  guard: Guard,
  name: string,
  healAfterMs: number,
): Promise<readonly string[]> {
  await guard();
  return onHost(context, name, healArming(context.plan.way, context.run, healAfterMs));
}

/** When the second node saw it, which alone tells: the first one may not get a word out any more. */
async function cutOff(context: CutContext, name: string, vantage: Vantage): Promise<number> {
  const { plan, run, signal } = context;
  const beganMs = nowMs();
  const shell = podShell(context, name);
  const sent = await shell.arm(cutArming(plan.way, run));
  try {
    return await vantage.until('down', beganMs, cutSeenMs);
  } catch (error) {
    signal.throwIfAborted();
    // It is reachable, and may say why.
    heard(shell, name, await sent.ended());
    throw error;
  }
}

/** A cut of some seconds that heals itself by the same means; how long the node was away. */
async function rehearse(context: CutContext, vantage: Vantage, guard: Guard): Promise<number> {
  const { plan, run, say } = context;
  await arm(context, guard, 'rehearse-arm', plan.rehearsalMs);
  const downMs = await cutOff(context, 'rehearse-cut', vantage);
  const upMs = await vantage.until('up', downMs, plan.rehearsalMs + spareMs);
  say(`rehearsed: away for ${((upMs - downMs) / 1000).toFixed(1)} s, and back by itself`);
  // The second belt of the rehearsal would cut the real one short.
  await onHost(context, 'rehearse-end', checkScript(plan.way, run));
  return Math.round(upMs - downMs);
}

async function remedied(
  { clients, namespace, plan, say }: CutContext,
  volumes: readonly VolumeUnderCut[],
): Promise<number> {
  const remedyMs = nowMs();
  if (plan.remedy === 'out-of-service') await mark(clients, plan.nodes[0], namespace, true);
  if (plan.remedy === 'force-delete') {
    // While its node is away: nobody tells the pod, and nothing waits for it.
    await Promise.all(volumes.map((volume) => volume.forceDelete()));
  }
  await Promise.all(volumes.map((volume) => volume.startNextAt(remedyMs)));
  say(plan.remedy === 'eviction' ? 'the pods are left to Kubernetes' : `${plan.remedy}: done`);
  return remedyMs;
}

/** Looks whether the driver ever gives the next pod what it kept from it while the node was silent. */
async function handOver(
  volumes: readonly VolumeUnderCut[],
  say: (line: string) => void,
): Promise<void> {
  const waiting = volumes.filter(({ isHandedOver }) => !isHandedOver);
  if (waiting.length === 0) return;
  const names = waiting.map(({ record }) => record.storageClass).join(', ');
  say(`the next pods wait up to ${handOverMs / 60_000} min more for volumes of ${names}`);
  await Promise.all(waiting.map((volume) => volume.handOver()));
}

/** Until the node is Ready again, and its host says that nothing is left. Throws `CUT_NOT_HEALED`. */
export async function healed(context: CutContext, record: CutDraft): Promise<void> {
  const { clients, namespace, run, plan, say, signal } = context;
  const { armedMs = nowMs() } = record;
  const [node] = plan.nodes;
  const latestMs = latestHealMs(plan.healAfterMs);
  say(`${node} heals itself by ${new Date(armedMs + latestMs).toISOString().slice(11, 19)}Z`);
  try {
    await pause(armedMs + plan.healAfterMs - nowMs(), signal);
    record.readyAgainMs = await nodeIs(context, true, latestMs);
    const said = await onHost(context, 'check', checkScript(plan.way, run));
    record.checked = true;
    noteBoot(record, 'healedBootId', said);
  } catch (cause) {
    // What comes of it is told by `--clean`, too; that the node may be away is told only here.
    await mark(clients, node, namespace, false).catch((error: unknown) => say(whyOf(error)));
    throw refusal('CUT_NOT_HEALED', `${node} is not proven to be healed`, {
      ...{ command: healCommand(plan.way, run), cause },
    });
  }
  await mark(clients, node, namespace, false);
}

function noteBoot(
  record: CutDraft,
  when: 'armedBootId' | 'healedBootId',
  said: readonly string[],
): void {
  const bootId = bootOf(said);
  if (bootId !== undefined) record[when] = bootId;
}

const steadyLines = 40;
/** A writer lives on after the heal, also one that began while others were waited for. */
const afterHealMs = 180_000 + startMs;
/**
 * A node that is back lets go of what it held; by then the attacher asks a driver that refuses each five
 * minutes, and Kubernetes and its kubelets each two.
 */
const handOverMs = 480_000;

/** Where a volume's pods are, and how they write. */
export function templateOf(
  { namespace, plan }: Pick<CutContext, 'namespace' | 'plan'>,
  storageClass: string,
): ObjectTemplate {
  const { nodes, volumeMode, size, image, healAfterMs, writeEveryMs, remedy } = plan;
  const asked = { nodes, volumeMode, size, image, storageClass, trials: 1 };
  return {
    ...{ namespace, program: writerProgram(), owner: ownerNow() },
    plan: { ...trialPlanOf({ ...asked, horizonMs: healAfterMs + afterHealMs }), writeEveryMs },
    // A pod that may take its time stays Terminating while its node is silent, and holds its volume.
    ...(remedy === 'eviction' && { writerGraceS: 0 }),
  };
}

export class VolumeUnderCut extends VolumePods<CutVolume, CutContext> {
  constructor(context: CutContext, { name, storageClass }: CutPlan['volumes'][number]) {
    // As with a trial whose next pod comes while the first one holds the volume.
    const trial = { name, storageClass, variant: 'contested' } as const;
    super(context, templateOf(context, storageClass), trial);
  }

  /** Throws as `PodsContext`'s signal alone; what else goes wrong is its end, and the others go on. */
  start(): Promise<void> {
    return this.noting('ended', async () => {
      await this.startWriter(journalFolder(this.context.run));
      const what = `${this.pod('writer')} writes steadily`;
      await this.steady((lines) => lines.length >= steadyLines, what);
    });
  }

  async startNextAt(remedyMs: number): Promise<void> {
    this.record.deleteAskedMs = remedyMs;
    await this.startNext(this.context.plan.healAfterMs + afterHealMs + handOverMs);
  }

  get isHandedOver(): boolean {
    return this.seen('next')?.runningMs !== undefined;
  }

  /** Once the first node is back and has let go: any mode then gives the volume to the next pod. */
  handOver(): Promise<void> {
    const pod = this.pod('next');
    const what = `the pod ${pod} runs, with the first one gone`;
    return this.noting('readBack', () =>
      this.context.view.until({ what, timeoutMs: handOverMs }, () => {
        return this.isHandedOver || lastEvent(this.context.view, pod);
      }),
    );
  }

  /** `lines`: the writer's as its node kept them. */
  recorded(lines: readonly string[], watchEndedMs: number): CutVolume {
    return Object.assign(this.finish(lines), { watchEndedMs });
  }
}

/** Resolves to those whose writers write. Throws InfrastructureError `CUT_NO_WRITER` where none does. */
export async function startWriters(
  volumes: readonly VolumeUnderCut[],
  say: (line: string) => void,
): Promise<readonly VolumeUnderCut[]> {
  await Promise.all(volumes.map((volume) => volume.start()));
  const failed = volumes.filter(({ record }) => record.ended !== undefined);
  for (const { record } of failed) say(`no writer for ${record.storageClass}: ${record.ended}`);
  if (failed.length < volumes.length) return volumes.filter((each) => !failed.includes(each));
  throw refusal('CUT_NO_WRITER', `nothing was cut: ${failed[0]?.record.ended}`);
}
