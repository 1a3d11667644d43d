/** Observers at odds: on another node, against each other, or against what was done. */
import {
  and,
  add,
  change,
  drop,
  faultAt,
  healAt,
  isVictim,
  onVictim,
  saw,
  seenAt,
  sinceFault,
  type Alteration,
} from '../edit.ts';
import { type ObservationRecord, observed } from '../../../lib/history/observations.ts';
import type { HeldRun, TimedRecord } from '../held-run.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';

/** As another node's, and back. */
const swapped = (record: ObservationRecord, run: HeldRun): ObservationRecord => {
  const other = run.story.setup?.nodes.find((node) => !isVictim(node, run));
  const node = isVictim(record.node, run) ? other : run.story.victimNode;
  return node === undefined ? record : { ...record, node };
};

/** The model's has a name of its own. */
const volumeOf = ({ setup, run }: HeldRun['story']): string =>
  setup?.volume?.volume ?? `fd-${run.runId}`;

const mount =
  (name: 'mounted' | 'unmounted', victim: boolean, afterMs: number, generation: number) =>
  (run: HeldRun) =>
    seenAt(afterMs, ({ story }) => ({
      source: 'mounts',
      name,
      node:
        (victim
          ? story.victimNode
          : story.setup?.nodes.find((node) => node !== story.victimNode)) ?? 'none',
      data: { volume: volumeOf(story), device: `/dev/loop${900 + generation}`, generation },
    }))(run);

const overlapIn = (startOf: (run: HeldRun) => number): Alteration =>
  add((run) => {
    const ms = startOf(run) - faultAt(run);
    return [
      mount('unmounted', true, ms, 1)(run),
      mount('mounted', false, ms + 100, 2)(run),
      mount('mounted', true, ms + 200, 3)(run),
      mount('unmounted', true, ms + 60_000, 3)(run),
    ];
  });

const nodeReadyThroughout: Alteration = drop(
  (record, run) =>
    onVictim(record, run) &&
    sinceFault(record, run) &&
    record.type === 'observation' &&
    ([observed.nodeReady, observed.nodeTaints, observed.nodeGone] as readonly string[]).includes(
      record.name,
    ),
);

const none = 'untouched' as const;

export const contradictions: readonly EvidenceMutant[] = [
  {
    name: 'mounts-swapped-between-nodes',
    base: 'fenced',
    right: orWorse,
    alter: change(saw(observed.mounted, observed.unmounted), swapped),
  },
  {
    name: 'devices-swapped-between-nodes',
    base: 'fenced',
    right: orWorse,
    alter: change(saw(observed.deviceWritten), swapped),
  },
  {
    name: 'calls-swapped-between-nodes',
    base: 'fenced',
    right: orWorse,
    alter: change(saw(observed.csiCall), swapped),
  },
  {
    name: 'cut-of-the-wrong-node',
    base: 'fenced',
    right: orWorse,
    alter: change(saw(observed.deviceCut), swapped),
  },
  {
    name: 'cut-told-of-two-nodes',
    base: 'fenced',
    right: orWorse,
    alter: add((run) =>
      run.story.observations
        .filter(({ name }) => name === observed.deviceCut)
        .map((record) => swapped(record, run)),
    ),
  },
  {
    name: 'victim-comes-back-beside-the-successor',
    base: 'fenced',
    right: orWorse,
    alter: overlapIn((run) => healAt(run) - 30_000),
  },
  {
    name: 'overlap-after-the-heal',
    base: 'fenced',
    right: orWorse,
    alter: overlapIn((run) => healAt(run) + 100),
  },
  {
    name: 'second-mount-beside-a-living-victim',
    base: none,
    right: orWorse,
    alter: add((run) => [mount('mounted', false, 60_000, 2)(run)]),
  },
  { name: 'node-ready-throughout', base: none, right: inconclusive, alter: nodeReadyThroughout },
  {
    name: 'node-ready-throughout-and-evicted',
    base: 'fenced',
    right: inconclusive,
    alter: nodeReadyThroughout,
  },
  {
    name: 'node-ready-says-true',
    base: 'fenced',
    right: inconclusive,
    alter: change(
      and(saw(observed.nodeReady), onVictim, sinceFault),
      (record: ObservationRecord) => ({ ...record, data: { ...record.data, status: 'True' } }),
    ),
  },
  {
    name: 'devices-count-backwards',
    base: 'fenced',
    right: inconclusive,
    alter: change(and(saw(observed.deviceWritten), sinceFault), (record: ObservationRecord) => ({
      ...record,
      data: { ...record.data, bytesWritten: 1 },
    })),
  },
  {
    name: 'stage-granted-and-no-mount',
    base: none,
    right: inconclusive,
    alter: add((run): readonly TimedRecord[] => [
      seenAt(60_000, ({ story }) => ({
        source: 'csi',
        name: observed.csiCall,
        node: story.setup?.nodes.find((node) => node !== story.victimNode) ?? 'none',
        data: {
          call: 'NodeStageVolume',
          volume: volumeOf(story),
          durationMs: 5,
        },
      }))(run),
    ]),
  },
];
