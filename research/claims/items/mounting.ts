/** Claims 1, 6 and 27: the order of the steps, the gate before a mount, and what is formatted on the way. */
import { toldInSeconds } from '../../../lib/core/index.ts';
import { firstAfterFault } from '../../../lib/judge/index.ts';
import {
  allOf,
  callsOf,
  endMsOf,
  firstOf,
  recordLines,
  since,
  watchLateMs,
  type RecordedRun,
} from '../recorded-run.ts';
import { observed, type ObservationRecord } from '../../../lib/history/index.ts';
import type { Claim } from '../claim.ts';
import type { ClaimReading } from '../reading.ts';

export const serialLifecycle: Claim = {
  number: 1,
  title: 'Serial lifecycle',
  statement:
    'A volume that moves is unmounted, detached, attached and mounted, never two at a time.',
  expected:
    'Holds for every move of a node that answers: no step begins before the last one ended.',
  runs: ['network-partition --remedy none --horizon 900s'],
  read,
};

function read(run: RecordedRun): ClaimReading {
  const unstaged = firstOf(run, 'unstaged');
  const staged = firstOf(run, 'staged');
  const detached = firstOf(run, 'detach-answered');
  const attached = callsOf(run, 'publish').find(({ node }) => node === staged?.node);
  if (!unstaged || !staged || !detached || !attached) return 'the volume did not move';
  if (detached.t < unstaged.t) return 'the detach was forced: this is no orderly move';
  const steps = [
    ['unmount', 'detach', detached.t - endMsOf(unstaged)],
    ['detach', 'attach', attached.t - endMsOf(detached)],
    ['attach', 'mount', staged.t - endMsOf(attached)],
  ] as const;
  const overlapping = steps.filter(([, , gapMs]) => gapMs < 0);
  const gaps = steps.map(([one, next, gapMs]) => `${one} to ${next} ${toldInSeconds(gapMs)}`);
  const status = [observed.volumesInUse, observed.volumesAttached].flatMap((name) =>
    run.story.observations.filter(
      (seen) => seen.name === name && seen.t >= unstaged.t && seen.t <= endMsOf(staged),
    ),
  );
  return {
    asExpected: overlapping.length === 0,
    said:
      `${overlapping.length} of 3 steps overlap; between them lie ${gaps.join(', ')} ` +
      `(moved ${since(run, staged.t)} after the fault, healed).`,
    evidence: recordLines(run, [unstaged, ...status, detached, attached, staged]),
  };
}

export const mountGate: Claim = {
  number: 6,
  title: 'Mount gate',
  statement: 'Kubelet confirms that a volume is attached before it mounts it.',
  expected:
    'Holds: no NodeStage before the volume is in the node’s volumesAttached, and it is ' +
    'in volumesInUse by then.',
  runs: ['network-partition --remedy force-delete'],
  read: readMountGate,
};

function readMountGate(run: RecordedRun): ClaimReading {
  const staged = firstOf(run, 'staged');
  if (staged === undefined) return 'no other node staged the volume';
  const handle = String(staged.data.volume);
  const listed = (name: string): ObservationRecord | undefined =>
    run.story.observations.find(
      (seen) =>
        seen.name === name &&
        seen.node === staged.node &&
        JSON.stringify(seen.data.volumes).includes(handle),
    );
  const [attached, inUse] = [listed(observed.volumesAttached), listed(observed.volumesInUse)];
  if (!attached || !inUse) return 'the lists of the node’s status were not seen';
  const waitedMs = attached.t - inUse.t;
  const waited =
    waitedMs > 0 ? `kubelet waited ${toldInSeconds(waitedMs)} for the attach` : 'no wait';
  return {
    asExpected: [attached, inUse].every(({ t }) => t - watchLateMs <= staged.t),
    said:
      `NodeStage came ${after(staged.t - attached.t)} volumesAttached and ` +
      `${after(staged.t - inUse.t)} volumesInUse; ${waited}.`,
    evidence: recordLines(run, [inUse, attached, staged]),
  };
}

const after = (ms: number): string =>
  ms < 0 ? `${toldInSeconds(-ms)} before the watch reported` : `${toldInSeconds(ms)} after`;

export const formatting: Claim = {
  number: 27,
  title: 'Formatting',
  statement: 'The device is formatted with `mkfs.ext4` and then mounted, whatever is on it.',
  expected:
    'Only a blank device is formatted. A used one is checked by fsck before it is ' +
    'mounted, which replays the journal: a write, also while the other node still has ' +
    'it mounted.',
  runs: ['network-partition --remedy force-delete'],
  read(run) {
    const staged = firstAfterFault(run.story, 'staged');
    if (staged === undefined) return 'no other node staged the volume';
    const { formatBefore, formatted, fsckExitCode, fsck } = staged.data;
    if (typeof formatted !== 'boolean') return 'the driver did not say what it found';
    const replayed = /recovering journal/.test(String(fsck));
    const unmounted = firstOf(run, 'unmounted');
    const live = unmounted === undefined || unmounted.t > staged.t;
    return {
      asExpected: !formatted && fsckExitCode !== undefined,
      said:
        `blkid said “${String(formatBefore)}”; formatted: ${String(formatted)}; fsck ` +
        'ended with ' +
        `${String(fsckExitCode)}${replayed ? ' and replayed the journal' : ''}, while ` +
        `the victim had it ${live ? 'still mounted' : 'no longer mounted'}.`,
      evidence: recordLines(run, [staged, ...allOf(run, 'unmounted')]),
    };
  },
};
