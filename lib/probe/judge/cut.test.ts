/** What a cut showed of a volume, by made-up records of each kind; the real ones are in cut.blind.test.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CutFinding,
  type CutOutcome,
  type StoragePath,
  classifyAll,
  classifyCut,
  modesOf,
} from './cut.ts';
import { answeredMs } from './heard.ts';
import { type CutRecord, type CutVolume, type Write, emptyJournal } from './record.ts';
import {
  type CutKind as Kind,
  cutPlan,
  cutRecord as cut,
  cutVolume as volume,
  cutWrites,
  nextJournalOf,
} from '../../../test/support/cut-volume.ts';
import { renumbered } from '../../../test/support/probe-trial.ts';

const tainted = { ...cutPlan, remedy: 'out-of-service' } as const;

type More = Partial<CutVolume>;
const judged = (kind: Kind, more: More = {}, record: CutRecord = cut) =>
  classifyCut(record, volume(kind, more), cutPlan);
const undecided = (why: unknown) => ({ outcome: 'undecided', modes: [], why });

const asIn = { goneMs: 180_000, inMs: 185_000 };
/** The cut took its storage, and gave it back. */
const stalled = { ...asIn, lastMs: 101_000 };
const wrote = (writes: readonly Write[]): More => ({
  writerJournal: { ...emptyJournal, writes: renumbered(writes) },
});
const stays = { readBack: 'waited 480 s in vain' };
const attached = (attachedMs: number): More => ({
  nextAttachment: { uid: 'v', firstSeenMs: attachedMs, lastSeenMs: attachedMs, attachedMs },
});
const first = (more: Partial<CutVolume['attachments'][number]>): More => ({
  attachments: [{ uid: 'u', firstSeenMs: 80_000, lastSeenMs: 180_000, ...more }],
});
const refusal = (message: string): More => ({
  events: [{ reason: 'FailedMount', pod: 'cut-1-b', atMs: 200_000, message }],
});
const inUse = refusal('MountVolume.MountDevice failed: in use');

const cutOffAt180 = cutWrites({ lastMs: 180_000 });
const slow = cutOffAt180
  .map((write) => (write.begunMs === 180_000 ? { ...write, tookMs: 2500 } : write))
  .filter(({ begunMs }) => begunMs <= 180_000 || begunMs > 182_500);
const [failed = {} as Write, ...others] = cutOffAt180.filter(({ error }) => error !== undefined);
const hung = [
  ...cutWrites({ lastMs: 180_000, after: 'nothing' }),
  { ...failed, tookMs: 390_000 - failed.begunMs },
  ...others.filter(({ begunMs }) => begunMs > 390_000),
];

test.each<[CutOutcome, Kind, More?]>([
  ['both-wrote', asIn],
  ['cut-at-detach', { ...asIn, lastMs: 180_100 }],
  // One write hung until it failed.
  ['cut-at-detach', { ...asIn, lastMs: 180_000 }, wrote(hung)],
  // Of an end that was seen late nobody knows whether the last write came before it.
  ['cut-near-detach', { ...asIn, lastMs: 178_500 }, { thereUntilMs: 171_500, attachments: [] }],
  // Begun before the end, and answered long after it.
  ['cut-near-detach', { ...asIn, lastMs: 180_000 }, wrote(slow)],
  ['cut-before-next', { ...asIn, lastMs: 181_000 }],
  ['cut-before-next', { ...asIn, lastMs: 184_000 }],
  ['late-cut', { ...asIn, lastMs: 190_000 }],
  ['next-refused', { goneMs: 180_000, inMs: 430_000 }, inUse],
  ['not-detached', { inMs: 430_000 }],
  // The node was back by then, and let go of it.
  ['not-detached', { goneMs: 405_000, inMs: 430_000 }, refusal('AttachVolume.Attach failed: a')],
  ['path-cut', stalled],
  ['path-cut', { goneMs: 180_000, lastMs: 101_000 }, stays],
  // Older records do not say when somebody looked.
  ['path-cut', stalled, first({ deletingMs: 180_000 })],
  ['undecided', { goneMs: 180_000, lastMs: 180_100 }],
])('%s: %o', (outcome, kind, more) => {
  expect(judged(kind, more).outcome).toBe(outcome);
});

const none = nextJournalOf(asIn, cutWrites({ lastMs: 184_000 }));
const foundNone = none.scans.map(({ atMs }) => ({ atMs, ranges: [[0, 890] as const] }));
const failedToo = nextJournalOf(
  asIn,
  cutOffAt180.filter(({ begunMs }) => begunMs < 186_000),
);
const held = { ...stalled, after: { heldUntilMs: 400_700 } } as const;
const heldThere = nextJournalOf(
  held,
  cutWrites(held).map((write) => ({ ...write, tookMs: 1 })),
);
const unasked = first({ lastSeenMs: 409_000, unaskedMs: 409_000 });
const goneAt = (goneMs: number): More => ({ writer: { node: 'a', createdMs: 0, goneMs } });
const books = { deletingMs: 180_000, lastSeenMs: 399_000, detachError: 'did not detach' };
const boots = { armedBootId: 'one', healedBootId: 'one' };
const silent =
  /^nothing was heard of the writer after its last write, .* after the cut: it may have hung, or be gone/;

test.each<[string | RegExp, Kind, object?, object?]>([
  ['nobody saw the node cut off', asIn, {}, { cutMs: undefined }],
  ['nobody saw the node healed', asIn, {}, { healedMs: undefined }],
  ['the writer’s journal was not found', asIn, wrote([])],
  [
    '3 lines of the writer are missing',
    ...([asIn, { writerJournal: { ...emptyJournal, writes: cutWrites(), gaps: 3 } }] as const),
  ],
  ["the clock of the writer's node is not known", asIn, { clockErrorMs: undefined }],
  [
    /ended by the pod’s journal, runs by the probe at/,
    asIn,
    { writerJournal: { ...emptyJournal, writes: cutWrites(asIn), endedMs: 300_000 } },
  ],
  [
    'the writer failed: ENOSPC',
    asIn,
    { writerJournal: { ...emptyJournal, failed: 'ENOSPC', writes: cutWrites() } },
  ],
  ['only 10 writes were acknowledged before the cut', asIn, wrote(cutWrites().slice(40))],
  ['waited 240 s in vain', asIn, { ended: 'waited 240 s in vain' }],
  [/^a write failed with ENOSPC/, asIn, wrote(cutOffAt180.map(ofMachine))],
  [
    /the node of the pod \(the first pod\): a by the plan, b by/,
    asIn,
    { writer: { node: 'b', createdMs: 90_000 } },
  ],
  [
    /its boot id \(the node\): one by its host before the cut, two by its host after/,
    asIn,
    {},
    { ...boots, healedBootId: 'two' },
  ],
  // A next pod that has the volume, and whose writes fail, is nobody's second writer.
  ...[{}, { lastMs: 180_000 }, { lastMs: 240_000 }].map((kind): [string, Kind] => [
    'the next pod was in, and no write of it was acknowledged (EROFS)',
    { ...asIn, ...kind, nextError: 'EROFS' },
  ]),
  [
    /found none of them on the disk; both-wrote: /,
    asIn,
    { nextJournal: { ...none, scans: foundNone } },
  ],
  [
    /^no known mode does this: 10 writes that failed came to the disk/,
    ...([{ ...asIn, lastMs: 180_000 }, { nextJournal: failedToo }] as const),
  ],
  [/was given it while the first one wrote; not-detached/, { inMs: 402_000 }],
  [
    '1 writes were acknowledged once the node was back; whether they came to the disk beside the next pod’s nobody saw',
    ...([held, { nextJournal: heldThere }] as const),
  ],
  [/and the next pod \(waited\) had written nothing/, { lastMs: 101_000, backMs: 400_500 }],
  [
    /^no known mode does this: .* wrote-after-heal: /,
    { ...asIn, lastMs: 180_000, backMs: 400_500 },
  ],
  ...[101_000, 180_000, 190_000].map((lastMs): [RegExp, Kind] => [
    silent,
    { ...asIn, lastMs, after: 'nothing' },
  ]),
  [
    /^nothing was heard of the writer for 80.1 s after its last write/,
    { ...asIn, lastMs: 180_000 },
    wrote(cutOffAt180.filter(({ begunMs }) => begunMs <= 180_000 || begunMs > 260_000)),
  ],
  // Its last write came before its detach was seen to be asked for.
  [
    'the last write was acknowledged 70.0 s after the cut, and nobody looked at its attachment in the 15.0 s in which its detach was asked for: which came first is not known',
    { ...asIn, lastMs: 170_000 },
    first({ unaskedMs: 165_000, deletingMs: 180_000 }),
  ],
  [/nobody looked/, { ...asIn, lastMs: 170_000 }, first({ deletingMs: 180_000 })],
  [/nobody looked/, { lastMs: 170_000 }, first({ unaskedMs: 130_000, lastSeenMs: 130_000 })],
  [
    'nobody asked for its detach: the heal came too early (--heal-after)',
    ...([{ inMs: 430_000 }, { ...unasked, ...goneAt(120_000) }] as const),
  ],
  [
    'nobody asked for its detach: the API had its pod to the heal (--heal-after)',
    ...([{ inMs: 430_000 }, { ...unasked, ...goneAt(405_000) }] as const),
  ],
  // Drivers that do what no mode does.
  [/nobody waited.*not-detached/, {}],
  [/nobody else could have it.*not-detached: the attach/, {}, stays],
  [/nobody else could have it.*next-refused/, { goneMs: 180_000 }, { ...inUse, ...stays }],
  [
    /it was cut off.*said of the detach: did not detach/,
    ...([{ lastMs: 180_000 }, { ...stays, ...first(books) }] as const),
  ],
  [
    /before its detach from the first one had ended.*both-wrote/,
    ...([{ inMs: 185_000 }, { ...attached(183_000), ...first(books) }] as const),
  ],
])('undecided: %s', (why, kind, more = {}, record = {}) => {
  const found = classifyCut({ ...cut, ...record }, { ...volume(kind), ...more }, cutPlan);
  expect(found).toMatchObject(
    undecided(typeof why === 'string' ? why : expect.stringMatching(why)),
  );
});

function ofMachine(write: Write): Write {
  return write.error === undefined ? write : { ...write, error: 'ENOSPC' };
}

test('a path is told to be cut only where it was before anybody asked for the detach', () => {
  const times = fc.record({
    askedMs: fc.integer({ min: 121_000, max: 300_000 }),
    // Of the looks before and after that.
    beforeMs: fc.integer({ min: 1, max: 60_000 }),
    afterMs: fc.integer({ min: 0, max: 60_000 }),
    lastMs: fc.integer({ min: 101_000, max: 390_000 }),
  });
  fc.assert(
    fc.property(times, ({ askedMs, beforeMs, afterMs, lastMs }) => {
      const deletingMs = askedMs + afterMs;
      const looks = first({ unaskedMs: askedMs - beforeMs, deletingMs, lastSeenMs: deletingMs });
      const kind = { goneMs: deletingMs + 1000, inMs: deletingMs + 4000, lastMs };
      const { outcome, modes } = judged(kind, looks);
      if (lastMs >= askedMs) expect(outcome).not.toBe('path-cut');
      if (outcome === 'path-cut') expect(modes).toEqual([]);
      const isNear = beforeMs + afterMs <= 500;
      if (isNear && lastMs < askedMs - 4000) expect(outcome).toBe('path-cut');
    }),
    { numRuns: 100 },
  );
});

test('the taint tells a fence that waits for it from none', () => {
  const cutOff = volume({ goneMs: 122_000, inMs: 125_000, lastMs: 121_900 });
  const both = [judged(asIn), classifyCut(cut, cutOff, tainted)];
  expect(modesOf(both)).toEqual(['fence-if-out-of-service']);
  expect(modesOf([])).toBeUndefined();
});

test('nothing follows from a node that was reached, but for a look a little before the heal', () => {
  const withLooks = (...looks: CutRecord['looks']) =>
    judged({ ...asIn, lastMs: 180_100 }, {}, { ...cut, looks });
  const [down, up] = (['down', 'up'] as const).map((word) => (atMs: number) => ({ word, atMs }));
  if (down === undefined || up === undefined) throw new Error('there are two words');
  expect(withLooks(down(100_000), up(150_000), down(160_000), up(400_000))).toMatchObject(
    undecided(expect.stringContaining('reached by the second node at 50.0 s')),
  );
  expect([withLooks(up(90_000)), withLooks()].map(({ outcome }) => outcome)).toEqual([
    ...['undecided', 'undecided'],
  ]);
  expect(withLooks(down(100_000), up(398_000)).outcome).toBe('cut-at-detach');
});

describe('two writers', () => {
  test('are told by the clocks of both, and by the slots', () => {
    expect(judged(asIn, {}, { ...cut, ...boots })).toMatchObject({
      ...{ outcome: 'both-wrote', overlapAcks: 2147, overlapSlots: 2200 },
      why: '2147 writes were acknowledged beside the next pod’s, and 2200 came to the disk after it had read it, to the heal, 215.0 s after it was in',
    });
  });

  test('are told by the slots alone where their clocks are too far apart to tell', () => {
    const late = judged({ ...asIn, lastMs: 185_200 });
    expect(late).toMatchObject({ outcome: 'late-cut', overlapAcks: 0, modes: ['ack-early'] });
    expect(late.overlapSlots).toBeGreaterThan(0);
  });

  test('are not told by slots of which the next pod may have missed some at first', () => {
    const { nextJournal } = volume({ ...asIn, lastMs: 185_200 });
    const blind = { ...nextJournal, blind: [{ atMs: 184_000, error: 'EIO' }] };
    for (const journal of [blind, { ...nextJournal, gaps: 1 }]) {
      const found = judged({ ...asIn, lastMs: 185_200 }, { nextJournal: journal });
      expect(found).toMatchObject({ outcome: 'cut-before-next', overlapSlots: 0 });
    }
  });
});

describe('a writer that came back with its node', () => {
  const unfenced = { outcome: 'wrote-after-heal', modes: ['unfenced', 'fence-if-out-of-service'] };

  test.each<[string, Kind]>([
    ['and wrote on', { ...stalled, after: 'nothing', backMs: 400_500 }],
    ['and wrote on after errors', { ...stalled, backMs: 400_500 }],
    // The heal is seen some looks late.
    ['and wrote on before the heal was seen', { ...stalled, after: 'nothing', backMs: 398_500 }],
    ['whose write was held until then, and came to the disk', held],
  ])('%s', (_, kind) => {
    const found = judged(kind);
    expect(found).toMatchObject(unfenced);
    expect(found.why).toMatch(
      /^\d+ writes were acknowledged once the node was back, beside the next pod’s, and \d+ came to the disk after it had read it$/,
    );
    expect(classifyCut(cut, volume(kind), tainted).modes).toEqual(['unfenced']);
  });

  test('as the next pod alone saw, who found its writes', () => {
    const kind = { ...stalled, after: 'nothing' } as const;
    const replayed = [61, 62, 63].map((seq) => ({ seq, begunMs: 101_100, tookMs: 300_000 }));
    const nextJournal = nextJournalOf(kind, [...cutWrites(kind), ...replayed]);
    expect(judged(kind, { nextJournal })).toMatchObject({
      ...{ ...unfenced, overlapSlots: 3, afterHealAcks: 0 },
    });
  });
});

const recordOf = (kind: Kind, more: More = {}): CutRecord => ({
  ...cut,
  volumes: [volume({ goneMs: 182_000, ...kind }, more)],
});
const { cutMs: _, ...unseen } = recordOf({});

test.each<[StoragePath, string, CutRecord, string?]>([
  ['survived', 'it wrote to the heal', recordOf({})],
  ['survived', 'it wrote until its detach', recordOf({ lastMs: 180_100 })],
  ['cut', 'it wrote no more from the cut on', recordOf({ lastMs: 101_000 })],
  ['cut', 'it stopped before anybody asked', recordOf({ lastMs: 170_000 })],
  [
    ...(['unknown', 'nobody looked while it stopped'] as const),
    recordOf({ lastMs: 170_000 }, first({ unaskedMs: 165_000, deletingMs: 180_000 })),
  ],
  ['unknown', 'its journal is not there', recordOf({}, wrote([]))],
  [
    ...(['unknown', 'lines of it are missing'] as const),
    recordOf({}, { writerJournal: { ...emptyJournal, writes: cutWrites(), gaps: 1 } }),
  ],
  // As an OOM kill, or a write that never ends.
  ['unknown', 'it only falls silent', recordOf({ lastMs: 101_000, after: 'nothing' })],
  ['unknown', 'the class is not under the cut', recordOf({}), 'other'],
  ['unknown', 'nobody saw the cut', unseen],
])('storage path %s: %s', (path, _what, record, storageClass = 'fast') => {
  const found = classifyAll(record, cutPlan).find((each) => each.storageClass === storageClass);
  expect(found?.storagePath ?? 'unknown').toBe(path);
});

describe('whatever two pods do', () => {
  const times = fc.record({
    lastMs: fc.integer({ min: 100_000, max: 404_000 }),
    after: fc.oneof(
      fc.constantFrom('errors' as const, 'nothing' as const),
      fc.record({ heldUntilMs: fc.integer({ min: 398_000, max: 404_000 }) }),
    ),
    backMs: fc.option(fc.integer({ min: 397_000, max: 404_000 }), { nil: Infinity }),
    inMs: fc.option(fc.integer({ min: 125_000, max: 420_000 }), { nil: undefined }),
    gapMs: fc.integer({ min: 0, max: 10_000 }),
    nextError: fc.option(fc.constant('EIO'), { nil: undefined }),
  });
  type Drawn = typeof times extends fc.Arbitrary<infer T> ? T : never;

  function holds(property: (seen: CutVolume, finding: CutFinding) => void): void {
    const check = fc.property(times, (drawn: Drawn) => {
      const { inMs, nextError, gapMs, ...kind } = drawn;
      const drawnVolume = volume({
        ...kind,
        ...(inMs === undefined ? {} : { inMs, goneMs: Math.min(inMs - gapMs, 300_000) }),
        ...(nextError === undefined ? {} : { nextError }),
      });
      property(drawnVolume, classifyCut(cut, drawnVolume, cutPlan));
    });
    fc.assert(check, { numRuns: 100 });
  }
  const acked = ({ writerJournal }: CutVolume) =>
    writerJournal.writes.filter(({ error }) => error === undefined);

  test('who was cut off was told so', () => {
    holds((seen, { outcome }) => {
      if (!/^cut-|^late-cut$|^path-cut$/.test(outcome)) return;
      const last = acked(seen).at(-1);
      const failed = seen.writerJournal.writes.find(
        (write) => write.error !== undefined && write.seq > (last?.seq ?? -1),
      );
      expect(failed).toBeDefined();
    });
  });

  test('two writers are two', () => {
    holds((seen, { outcome }) => {
      if (!/^(both-wrote|late-cut|wrote-after-heal)$/.test(outcome)) return;
      expect(seen.nextJournal.writes.some(({ error }) => error === undefined)).toBe(true);
    });
  });

  test('who writes after the heal is not a writer whose path was cut', () => {
    holds((seen, { outcome }) => {
      const isLate = acked(seen).some((write) => answeredMs(write) >= 400_000);
      if (isLate) expect(outcome).not.toMatch(/^path-cut$|^cut-/);
    });
  });

  test('a fenced disk has no write beside the next pod’s', () => {
    holds((_, { modes, overlapAcks, overlapSlots }) => {
      if (overlapAcks + overlapSlots > 0) expect(modes).not.toContain('fenced');
    });
  });
});
