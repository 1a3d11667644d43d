/** Observers that were never there, that fell silent, or that call their silence excused. */
import { type ObservationRecord, observed } from '../../../lib/history/observations.ts';
import { and, change, drop, from, saw, sinceFault } from '../edit.ts';
import { inconclusive, type EvidenceMutant } from '../mutant.ts';

const needed = ['api', 'controller-manager', 'audit', 'csi', 'mounts', 'devices'] as const;

/** An observer that was to see this, too, and does not. */
const notSeeing =
  (source: string) =>
  ({ data, ...record }: ObservationRecord): ObservationRecord =>
    ({
      ...record,
      data: { ...data, sees: data.sees?.filter((each) => each !== source) },
    }) as ObservationRecord;

export const lives: readonly EvidenceMutant[] = [
  ...needed.flatMap((source) => [
    {
      name: `nobody-watches-${source}`,
      base: 'fenced' as const,
      right: inconclusive,
      alter: change(from('observer'), notSeeing(source)),
    },
    {
      name: `nobody-watches-${source}-from-the-fault-on`,
      base: 'fenced' as const,
      right: inconclusive,
      alter: change(and(from('observer'), sinceFault), notSeeing(source)),
    },
  ]),
  {
    name: 'all-observers-say-that-their-node-went',
    base: 'fenced',
    right: inconclusive,
    alter: change(
      and(saw(observed.observerBeat), sinceFault),
      ({ data, ...record }: ObservationRecord) => ({
        ...record,
        name: observed.observerEnded,
        data: { ...data, reason: 'the node is switched off' },
      }),
    ),
  },
  ...(['controller-manager', 'audit'] as const).map((source) => ({
    name: `control-plane-tells-nothing-by-${source}`,
    base: 'fenced' as const,
    right: inconclusive,
    alter: drop(from(source)),
  })),
];
