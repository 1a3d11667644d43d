/** The cut, step by step, and the record of all that was seen. It judges nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from '../../errors.ts';
import { taintOutOfService, untaint } from '../trials/taint.ts';
import { nowMs, whyOf } from '../trials/view.ts';
import {
  bootOf,
  checkScript,
  collectScript,
  cutArming,
  healArming,
  healCommand,
  latestHealMs,
  tidyArming,
} from './host.ts';
import { armedOnHost, heard, nodeIs, onHost, Vantage } from './node.ts';
import { podShell } from './pod-shell.ts';
import type { CutRecord } from './record.ts';
import { handOverMs, startWriters, VolumeUnderCut, type CutContext } from './volume.ts';

export type CutDraft = { -readonly [K in keyof CutRecord]: CutRecord[K] };

/** Until the node is Ready again, and its host says that nothing is left. Throws `CUT_NOT_HEALED`. */
export async function healed(context: CutContext, record: CutDraft): Promise<void> {
  const { clients, namespace, run, plan, say } = context;
  const [node] = plan.nodes;
  const latestMs = (record.armedMs ?? nowMs()) + latestHealMs(plan.healAfterMs);
  say(`${node} heals itself by ${new Date(latestMs).toISOString().slice(11, 19)}Z`);
  try {
    await sleep(
      Math.max(0, (record.armedMs ?? 0) + plan.healAfterMs - nowMs()),
      undefined,
      context,
    );
    record.readyAgainMs = await nodeIs(context, true, latestHealMs(plan.healAfterMs));
    const said = await onHost(context, 'check', checkScript(plan.way, run));
    record.checked = true;
    noteBoot(record, 'healedBootId', said);
  } catch (cause) {
    // What comes of it is told by `--clean`, too; that the node may be away is told only here.
    await untaint(clients, node, namespace).catch((error: unknown) => say(whyOf(error)));
    throw new InfrastructureError('CUT_NOT_HEALED', `${node} is not proven to be healed`, {
      hint: 'look at the console of the node; both of its heals should have run by now',
      command: healCommand(plan.way, run),
      cause,
    });
  }
  await untaint(clients, node, namespace);
}

function noteBoot(
  record: CutDraft,
  when: 'armedBootId' | 'healedBootId',
  said: readonly string[],
): void {
  const bootId = bootOf(said);
  if (bootId !== undefined) record[when] = bootId;
}

/** Until Kubernetes calls a silent node not Ready: the stock grace is 50 s, clouds' are longer. */
const notReadyMs = 300_000;
/** A pod has to come first. */
const cutSeenMs = 60_000;
/** Time for the host's own clocks, and for the pods that have to come. */
const spareMs = 30_000;
const lateWritesMs = 15_000;
/** Whoever lives has taken its files from the host by then; it starts before the writers do. */
export const tidyLaterMs = 900_000;

/** Whether the node may still be cut off; throws where not. */
export type Guard = () => Promise<void>;

interface HealToArm {
  /** Name of the pod that does it. */
  readonly name: string;
  /** From the arming to the heal. */
  readonly afterMs: number;
}

/** What the host said. Throws as `guard` does before anything is armed, and as `armedOnHost`. */
export async function arm(
  context: CutContext,
  guard: Guard,
  { name, afterMs }: HealToArm,
): Promise<readonly string[]> {
  await guard();
  return armedOnHost(context, name, healArming(context.plan.way, context.run, afterMs));
}

export class CutRun {
  readonly #context: CutContext;
  readonly #record: CutDraft;
  readonly #guard: Guard;
  readonly #volumes: readonly VolumeUnderCut[];
  /** Those whose writers write. */
  #under: readonly VolumeUnderCut[] = [];

  constructor(context: CutContext, record: CutDraft, guard: Guard) {
    this.#context = context;
    this.#record = record;
    this.#guard = guard;
    this.#volumes = context.plan.volumes.map(
      ({ name, storageClass }) => new VolumeUnderCut(context, name, storageClass),
    );
  }

  async play(): Promise<void> {
    const { plan, run, say, signal } = this.#context;
    const [node, next] = plan.nodes;
    const tidy = tidyArming(run, latestHealMs(plan.healAfterMs) + tidyLaterMs);
    await armedOnHost(this.#context, 'prepare', tidy);
    say(`writers start on ${node}`);
    const vantage = await Vantage.start(this.#context);
    this.#under = await startWriters(this.#volumes, say);
    await this.#rehearse(vantage);
    const arming = { name: 'arm', afterMs: plan.healAfterMs };
    const said = await arm(this.#context, this.#guard, arming);
    this.#record.armedMs = nowMs();
    noteBoot(this.#record, 'armedBootId', said);
    say(`${node} has armed its heal, twice, for ${plan.healAfterMs / 1000} s from now`);
    this.#record.cutMs = await this.#cutOff('cut', vantage);
    say(`${next} no longer reaches ${node}`);
    this.#record.notReadyMs = await nodeIs(this.#context, false, notReadyMs);
    await this.#remedy();
    const healMs = this.#record.armedMs + plan.healAfterMs;
    say(
      `the next pods wait for the volumes; ${node} is back in ${Math.round((healMs - nowMs()) / 1000)} s`,
    );
    const patience = { timeoutMs: latestHealMs(plan.healAfterMs) + spareMs, signal };
    this.#record.healedMs = await vantage.until('up', this.#record.notReadyMs, patience);
    say(`${next} reaches ${node} again`);
    await sleep(lateWritesMs, undefined, { signal });
    const endedMs = nowMs();
    await healed(this.#context, this.#record);
    const lines = await onHost(this.#context, 'collect', collectScript(run));
    await this.#handOver();
    this.#collect(lines, endedMs);
    this.#record.looks = vantage.looks;
  }

  /** When the second node saw it, which alone tells: the first one may not get a word out any more. */
  async #cutOff(name: string, vantage: Vantage): Promise<number> {
    const { plan, run, signal } = this.#context;
    const beganMs = nowMs();
    const shell = podShell(this.#context, name);
    const sent = await shell.arm(cutArming(plan.way, run));
    try {
      return await vantage.until('down', beganMs, { timeoutMs: cutSeenMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      // It is reachable, and may say why.
      heard(shell, name, await sent.ended());
      throw error;
    }
  }

  /** A cut of some seconds that heals itself by the same means. */
  async #rehearse(vantage: Vantage): Promise<void> {
    const { plan, run, say, signal } = this.#context;
    const arming = { name: 'rehearse-arm', afterMs: plan.rehearsalMs };
    await arm(this.#context, this.#guard, arming);
    const downMs = await this.#cutOff('rehearse-cut', vantage);
    const upMs = await vantage.until('up', downMs, {
      timeoutMs: plan.rehearsalMs + spareMs,
      signal,
    });
    this.#record.rehearsedMs = Math.round(upMs - downMs);
    say(`rehearsed: away for ${((upMs - downMs) / 1000).toFixed(1)} s, and back by itself`);
    // The second belt of the rehearsal would cut the real one short.
    await onHost(this.#context, 'rehearse-end', checkScript(plan.way, run));
  }

  async #remedy(): Promise<void> {
    const { clients, namespace, plan, say } = this.#context;
    const [node] = plan.nodes;
    const remedyMs = nowMs();
    this.#record.remedyMs = remedyMs;
    if (plan.remedy === 'out-of-service') await taintOutOfService(clients, node, namespace);
    if (plan.remedy === 'force-delete') {
      await Promise.all(this.#under.map((volume) => volume.forceDelete()));
    }
    await Promise.all(this.#under.map((volume) => volume.startNext(remedyMs)));
    say(plan.remedy === 'eviction' ? 'the pods are left to Kubernetes' : `${plan.remedy}: done`);
  }

  /** Looks whether the driver ever gives the next pod what it kept from it while the node was silent. */
  async #handOver(): Promise<void> {
    const waiting = this.#under.filter(({ isHandedOver }) => !isHandedOver);
    if (waiting.length === 0) return;
    const names = waiting.map(({ storageClass }) => storageClass).join(', ');
    const mostMin = handOverMs / 60_000;
    this.#context.say(`the next pods wait up to ${mostMin} min more for volumes of ${names}`);
    await Promise.all(waiting.map((volume) => volume.handOver()));
  }

  #collect(lines: readonly string[], endedMs: number): void {
    const byPod = Map.groupBy(lines, (line) => line.split(' ')[0] ?? '');
    this.#record.volumes = this.#volumes.map((volume) => {
      const own = byPod.get(volume.writerPod) ?? [];
      return volume.record(
        own.map((line) => line.slice(volume.writerPod.length + 1)),
        endedMs,
      );
    });
  }
}
