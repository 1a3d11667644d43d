/** Findings that no copy of the volume has: of controls, of readers, of the disk. */
import { countInWords, plural } from '../../core/index.ts';
import { csiCalls, observed } from '../../history/index.ts';
import { incomplete, note } from '../checkers/checker.ts';
import { type Exposure, refusedMountFindings } from '../timeline/access.ts';
import type { ReadMeter, StaleReads } from '../timeline/clients.ts';
import { forcedDetachFindings } from '../timeline/forced-detaches.ts';
import { describeRecreations, recreationsOf } from '../timeline/recreations.ts';
import {
  type Story,
  afterFault as after,
  firstAfterFault,
  troubledZones,
} from '../timeline/story.ts';
import { blockBytes } from '../timeline/writes.ts';
import type { Finding, RefusedMount } from './verdict.ts';
import { isDirectory } from '../../scenario/index.ts';

export const controlFindings = (story: Story, stale: readonly StaleReads[]): Finding[] => [
  ...forcedDetachFindings(story),
  ...staleReadFindings(story, stale),
  ...zoneFindings(story),
  ...refusedRemedy(story),
  ...rolloutFindings(story),
];

/** Why the remedy took nothing away. */
export const remedyRefused = 'REMEDY_REFUSED';

function refusedRemedy({ remedyRefused: refused, remedy: begun }: Story): Finding[] {
  if (refused === undefined) return [];
  const summary =
    begun === undefined
      ? `${refused.name} was not done: ${refused.detail ?? 'the machine is not off'}`
      : `an admission policy refused ${refused.name}, for want of a proof of fencing`;
  return [note(remedyRefused, summary, [refused.detail ?? 'no detail'])];
}

/** The new pod of a rollout was not Ready before the heal. */
export const rolloutWaits = 'ROLLOUT_WAITS';

/** A rollout whose new pod was never Ready, where the old one stays until it is: what it waited for. */
function rolloutFindings(story: Story): Finding[] {
  const { scenario, observations, remedy, healAtMs, victimUid, victimNode } = story;
  if (remedy === undefined || scenario.remedy.kind !== 'rollout-restart') return [];
  const seen = observations.filter(({ t }) => t >= remedy.t && t < healAtMs);
  const wasGone = seen.some(
    ({ name, data }) => name === observed.podGone && data.uid === victimUid,
  );
  const made = seen.find(({ name }) => name === observed.podCreated);
  if (wasGone || made === undefined) return [];
  const own = seen.filter(({ data }) => data.uid === made.data.uid);
  if (own.some(({ name, data }) => name === observed.podReady && data.ready)) return [];
  const bound = own.find(({ name }) => name === observed.podScheduled);
  const ran = own.find(({ name }) => name === observed.podRunning);
  const why = (): string => {
    if (bound === undefined) return 'no node could take it';
    if (ran === undefined) return `it waited for the volume on ${bound.node}`;
    if (bound.node !== victimNode) return `it ran on ${bound.node}`;
    return `it ran beside the old one on ${bound.node}, on the same mount`;
  };
  const summary = `the rollout did not end: the old pod stays until the new one is Ready, and ${why()}`;
  const steps = [made, bound, ran].flatMap((each) =>
    each === undefined ? [] : `${each.name} ${after(each.t, story)}`,
  );
  return [note(rolloutWaits, summary, steps)];
}

/** What the old server has in memory, it serves, whatever became of its disk. */
const staleReadFindings = (story: Story, stale: readonly StaleReads[]): Finding[] =>
  stale.map((each) => {
    const { client, count, fromMs, toMs, oldestMs, behind } = each;
    const window = `from ${after(fromMs, story)} to ${after(toMs, story)}`;
    const summary =
      `the replaced database still answered ${plural(count, 'read')} of the ${client} client with ` +
      `what was true ${(oldestMs / 1000).toFixed(1)} s earlier`;
    const missed = `a read missed up to ${plural(behind, 'acknowledged commit')} of the successor`;
    return { ...note('STALE_READS', summary, [window, missed]), loud: false };
  });

/** Kubernetes itself then taints fewer nodes or none, which a small test cluster rarely shows. */
function zoneFindings(story: Story): Finding[] {
  const evidence = troubledZones(story).map(
    ({ atMs, ready, lost, state, rate }) =>
      `${after(atMs, story)}: ${lost} of ${ready + lost} nodes lost, zone ${state}: ${rate} nodes/s`,
  );
  if (evidence.length === 0) return [];
  const summary = 'so many nodes were lost that Kubernetes slowed down or stopped eviction';
  return [note('ZONE_DISRUPTED', summary, evidence)];
}

/** Nothing is ever deleted: a row that was shown and then was not is a lost commit. `refuted`: clients whose reads prove nothing. */
export const readFindings = (
  story: Story,
  reads: ReadMeter,
  refuted?: ReadonlySet<string>,
): Finding[] =>
  reads.wentBack(refuted).map(({ client, node, count, atMs, saw, before }) => ({
    ...({ code: 'READS_WENT_BACK', level: 'damage', safety: 'lost', loud: false } as const),
    summary: `one server on ${node} answered ${plural(count, 'read')} of the ${client} client with less than before`,
    evidence: [`first ${after(atMs, story)}: ${saw}, where ${before} had been the newest row`],
  }));

// What the disk has to say: who could write together, what it refused, what it let through.

/** `isTold`: somebody would have told an operator that something is wrong. */
export const diskFindings = (
  story: Story,
  exposure: Exposure,
  { refused, isTold }: { readonly refused: readonly RefusedMount[]; readonly isTold: boolean },
): Finding[] => [
  ...twoWriters(story, exposure, isTold),
  ...refusedWrites(exposure),
  ...leakedWrites(exposure),
  ...refusedCalls(story),
  ...refusedMountFindings(refused),
  ...recreatedPods(story),
];

function recreatedPods({ records }: Story): Finding[] {
  const all = recreationsOf(records);
  if (all.length === 0) return [];
  const each = all.map(({ forced, readyAfterMs, detached }) => {
    const how = `${forced ? 'by force' : 'as usual'}${detached ? ', detached in between' : ''}`;
    return `${(readyAfterMs / 1000).toFixed(1)} s (${how})`;
  });
  return [note('PODS_RECREATED', describeRecreations(all).join('. '), each)];
}

/** Two could write; whether it did harm is for the other findings to say. */
function twoWriters({ scenario }: Story, { summary, tally }: Exposure, isTold: boolean): Finding[] {
  if (summary.ms === 0) return [];
  const { ms, bytesVictim, bytesSuccessor } = summary;
  const evidence = isDirectory(scenario.disk.mode)
    ? ['nobody counts what is written into a shared directory']
    : [`victim wrote ${bytesVictim} bytes`, `successor wrote ${bytesSuccessor} bytes`];
  if (tally !== undefined) {
    const { blocksBoth, firstOffsets } = tally;
    const bytes = countInWords(blocksBoth * blockBytes);
    evidence.push(
      `both wrote ${countInWords(blocksBoth)} blocks of ${blockBytes} bytes: ${bytes} bytes`,
    );
    if (blocksBoth > 0) evidence.push(`the first at the offsets ${firstOffsets.join(', ')}`);
  }
  return [
    {
      code: 'TWO_WRITERS',
      level: 'exposure',
      safety: 'exposed',
      loud: isTold,
      summary: `two nodes could write the volume for ${(ms / 1000).toFixed(1)} s`,
      evidence,
    },
  ];
}

/** The proof that a fence held: the victim tried. */
function refusedWrites({ marks }: Exposure): Finding[] {
  if (marks === undefined || marks.refused.count === 0) return [];
  const { count: writes, bytes } = marks.refused;
  const summary = `the disk refused ${countInWords(writes)} writes of the victim after it was cut off`;
  return [note('WRITES_REFUSED', summary, [`${countInWords(bytes)} bytes in all`])];
}

/** Then the disk was not what the scenario says. */
function leakedWrites({ marks }: Exposure): Finding[] {
  const { whileSevered = 0, afterCut = 0 } = marks?.leaked ?? {};
  if (whileSevered + afterCut === 0) return [];
  const evidence = `${whileSevered} while its path was severed, ${afterCut} after it was cut off`;
  return [incomplete('DISK_LEAKS', 'the disk took writes that it should have refused', [evidence])];
}

const gates: readonly string[] = [
  csiCalls.publish,
  csiCalls.unpublish,
  csiCalls.stage,
  csiCalls.nodePublish,
];

/** Calls on the way to a second mount that the driver refused, until there was one. */
function refusedCalls(story: Story): Finding[] {
  const { observations, faultAtMs, healAtMs } = story;
  if (faultAtMs === undefined) return [];
  const second = firstAfterFault(story, 'mounted');
  const untilMs = second?.t ?? healAtMs;
  const refused = new Map<string, { times: number; error: string }>();
  for (const { t, name, node, data } of observations) {
    if (t < faultAtMs || t >= untilMs || name !== observed.csiCall) continue;
    const { call, error } = data;
    if (typeof call !== 'string' || error === undefined || !gates.includes(call)) continue;
    const key = `${call} for ${node ?? 'no node'}`;
    const before = refused.get(key)?.times ?? 0;
    const said = typeof error === 'string' ? error : JSON.stringify(error);
    refused.set(key, { times: before + 1, error: said });
  }
  if (refused.size === 0) return [];
  const told = [...refused].map(([key, { times, error }]) => `${key}, ${times} times: ${error}`);
  const when = second === undefined ? 'until the heal' : 'until the second mount';
  return [note('CALLS_REFUSED', `the driver refused calls ${when}`, told)];
}

/** The volume came back to the node that it was taken from: by the mount it had, or by a new one. */
export const wayBack = { old: 'OLD_MOUNT_USED', anew: 'MOUNTED_ANEW' } as const;

/** Nothing where no pod was given the volume on the victim after the heal. */
export function wayBackFindings(story: Story): Finding[] {
  const { scenario, observations, victimNode, faultAtMs, healAtMs } = story;
  if (!scenario.remedy.moveBack || victimNode === undefined || faultAtMs === undefined) return [];
  const calls = observations.filter(
    ({ t, name, node, data }) =>
      t >= faultAtMs &&
      name === observed.csiCall &&
      node === victimNode &&
      data.error === undefined,
  );
  const given = calls.find(({ t, data }) => t >= healAtMs && data.call === csiCalls.nodePublish);
  if (given === undefined) return [];
  const staging: readonly unknown[] = [csiCalls.stage, csiCalls.unstage];
  const before = calls.filter(({ t, data }) => t <= given.t && staging.includes(data.call));
  const evidence = [`${csiCalls.nodePublish} on ${victimNode}, ${after(given.t, story)}`];
  const found =
    before.length === 0
      ? note(wayBack.old, 'back on the victim, the pod was given the mount from before the fault', [
          ...evidence,
          `no ${csiCalls.unstage} and no ${csiCalls.stage} since the fault`,
        ])
      : note(wayBack.anew, 'back on the victim, the volume was mounted anew', [
          ...evidence,
          ...before.map(({ t, data }) => `${String(data.call)} ${after(t, story)}`),
        ]);
  // No event, probe or log shows it.
  return [{ ...found, loud: false }];
}
