/** What a cut showed of a volume, by made-up records of each kind; the real ones are in blind.test.ts. */
import { expect, test } from 'vitest';
import { emptyJournal, type Write } from '../trials/journal.ts';
import { classifyCut, modesOf, type CutOutcome } from './classify.ts';
import type { CutRecord, CutVolume } from './record.ts';

/** The cut is at 100 s, the remedy at 120 s, the heal at 400 s; unix milliseconds are of that clock. */
const cut: CutRecord = {
  ...{ armedMs: 90_000, cutMs: 100_000, notReadyMs: 120_000, remedyMs: 120_000 },
  ...{ healedMs: 400_000, readyAgainMs: 410_000, checked: true, looks: [], volumes: [] },
};

interface Kind {
  /** The last write of the old pod; Infinity: it wrote to the end. */
  readonly lastMs?: number;
  readonly goneMs?: number;
  readonly inMs?: number;
}

function writes(lastMs: number): Write[] {
  return Array.from({ length: 3100 }, (_, index) => {
    const begunMs = 95_000 + index * 100;
    return { seq: index, begunMs, tookMs: 1, ...(begunMs > lastMs ? { error: 'EIO' } : {}) };
  });
}

function volume({ lastMs = Infinity, goneMs, inMs }: Kind, more: Partial<CutVolume> = {}) {
  return {
    ...{ name: 'cut-1', storageClass: 'fast', variant: 'contested', claim: 'cut-1' },
    ...{ deleteAskedMs: 120_000, watchEndedMs: 415_000, events: [] },
    ...{ clockOffsetMs: 0, clockErrorMs: 250 },
    attachments: [
      { uid: 'u', firstSeenMs: 80_000, lastSeenMs: 180_000, deletingMs: goneMs ?? 180_000 },
    ],
    writerJournal: { ...emptyJournal, writes: writes(lastMs) },
    nextJournal: emptyJournal,
    ...(goneMs === undefined ? {} : { goneMs, thereUntilMs: goneMs - 200 }),
    next: { node: 'b', createdMs: 121_000, ...(inMs === undefined ? {} : { runningMs: inMs }) },
    ...more,
  } as const satisfies CutVolume;
}

const refusal = (message: string): Partial<CutVolume> => ({
  events: [{ reason: 'FailedMount', pod: 'cut-1-b', atMs: 200_000, message }],
});

test.each<[CutOutcome, Kind, Partial<CutVolume>?]>([
  ['both-wrote', { goneMs: 180_000, inMs: 185_000 }],
  ['cut-at-detach', { goneMs: 180_000, inMs: 185_000, lastMs: 180_100 }],
  ['cut-before-next', { goneMs: 180_000, inMs: 185_000, lastMs: 184_000 }],
  ['late-cut', { goneMs: 180_000, inMs: 185_000, lastMs: 190_000 }],
  ['next-refused', { goneMs: 180_000 }, refusal('MountVolume.MountDevice failed: in use')],
  ['not-detached', {}],
  // The node was back by then, and let go of it.
  ['not-detached', { goneMs: 405_000 }, refusal('AttachVolume.Attach failed: attached to a')],
  ['path-cut', { goneMs: 180_000, inMs: 185_000, lastMs: 101_000 }],
  ['undecided', { goneMs: 180_000, lastMs: 180_100 }],
])('%s: %o', (outcome, kind, more) => {
  expect(classifyCut(cut, volume(kind, more), 'force-delete').outcome).toBe(outcome);
});

test.each<[string, object, object]>([
  ['nobody saw the node cut off', { cutMs: undefined }, {}],
  ['nobody saw the node healed', { healedMs: undefined }, {}],
  ['the writer’s journal was not found', {}, { writerJournal: emptyJournal }],
  [
    '3 lines of the writer are missing',
    {},
    { writerJournal: { ...emptyJournal, writes: writes(Infinity), gaps: 3 } },
  ],
  ['the clock of the writer’s node is not known', {}, { clockErrorMs: undefined }],
])('undecided: %s', (why, record, more) => {
  const seen = { ...volume({ goneMs: 180_000, inMs: 185_000 }), ...more } as CutVolume;
  expect(classifyCut({ ...cut, ...record }, seen, 'force-delete')).toMatchObject({
    ...{ outcome: 'undecided', why, modes: [] },
  });
});

test('the taint tells a fence that waits for it from none', () => {
  const cutOff = volume({ goneMs: 122_000, inMs: 125_000, lastMs: 121_900 });
  const wrote = volume({ goneMs: 180_000, inMs: 185_000 });
  const both = [
    classifyCut(cut, wrote, 'force-delete'),
    classifyCut(cut, cutOff, 'out-of-service'),
  ];
  expect(modesOf(both)).toEqual(['fence-if-out-of-service']);
  expect(modesOf([])).toBeUndefined();
});
