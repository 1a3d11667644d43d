import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DetachOutcome, classify } from './detach.ts';
import { emptyJournal } from './record.ts';
import {
  deletedMs,
  horizonMs,
  nextIn,
  nextOut,
  trialOf,
  writesOf,
} from '../../../test/support/probe-trial.ts';

const outcomeOf = (...of: Parameters<typeof trialOf>): DetachOutcome =>
  classify(trialOf(...of)).outcome;

describe('a writer that stays', () => {
  test('is cut off with the detach', () => {
    expect(classify(trialOf({ cutMs: 150, goneMs: 250 }))).toMatchObject({
      ...{ outcome: 'cut', answerMs: 250, firstErrorMs: 150, error: 'EIO', ackedAfterAnswer: 0 },
    });
  });

  test('is cut off after the answer: how long, and how many more it wrote', () => {
    expect(classify(trialOf({ cutMs: 10_250, goneMs: 250 }))).toMatchObject({
      ...{ outcome: 'late-cut', tailMs: 9951, ackedAfterAnswer: 199 },
    });
  });

  test('writes on after the answer', () => {
    expect(outcomeOf({})).toBe('not-cut');
  });

  test('writes on, and the detach hangs: its words', () => {
    const attachments = [
      { uid: 'u1', firstSeenMs: 1, lastSeenMs: 2, detachError: 'volume is in use' },
    ];
    expect(classify(trialOf({ goneMs: Infinity }, { attachments }))).toMatchObject({
      ...{ outcome: 'pending', detachError: 'volume is in use' },
    });
  });
});

describe('a driver that lies', () => {
  test('answers an error, yet cuts', () => {
    expect(outcomeOf({ cutMs: 200, goneMs: Infinity })).toBe('cut-unanswered');
  });

  test('answers, and cuts a minute later', () => {
    expect(outcomeOf({ cutMs: 60_000 })).toBe('late-cut');
  });

  test('forgets what it cut: undecided, since it is neither', () => {
    const { outcome, why } = classify(trialOf({ cutMs: 200, backMs: 30_000 }));
    expect(outcome).toBe('undecided');
    expect(why).toMatch(/EIO.*acknowledged again after 100\.0 s/);
  });

  test('acknowledges what is not on the disk', () => {
    const nextJournal = {
      ...emptyJournal,
      scans: [{ atMs: 1_000_000 + horizonMs + 30_000, ranges: [[0, 109]] as const }],
    };
    expect(classify(trialOf({}, { nextJournal }))).toMatchObject({ lostAcks: 2100 - 110 });
  });
});

describe('undecided, with the reason', () => {
  const base = trialOf({ cutMs: 150 });
  const { writes } = base.writerJournal;
  test.each([
    ['a line is missing', { writerJournal: { ...base.writerJournal, gaps: 1 } }, /1 lines/],
    ['it failed', { writerJournal: { ...emptyJournal, failed: 'ENOENT' } }, /ENOENT/],
    ['it hangs', { writerJournal: { ...emptyJournal, writes: writes.slice(0, 200) } }, /nothing/],
    ['few writes', { writerJournal: { ...emptyJournal, writes: writes.slice(90) } }, /only 10/],
    ['no clock', { clockErrorMs: undefined }, /clock/],
    ['no delete', { deleteAskedMs: undefined }, /not deleted/],
    ['a step failed', { ended: 'TRIAL_TIMED_OUT: x' }, /TIMED_OUT/],
  ])('%s', (_, change, why) => {
    const record = { ...base, ...change } as typeof base;
    expect(classify(record)).toMatchObject({
      outcome: 'undecided',
      why: expect.stringMatching(why),
    });
  });

  test('errors before the detach', () => {
    expect(outcomeOf({ cutMs: -1000 })).toBe('undecided');
  });
});

describe('a writer that was quiet', () => {
  const quiet = (cutMs: number, goneMs = 250): DetachOutcome => {
    const writes = writesOf({ cutMs }).filter(
      ({ begunMs }) => begunMs < 999_000 || begunMs > 1_040_000,
    );
    const writerJournal = { ...emptyJournal, writes, quietMs: 999_000, loudMs: 1_040_000 };
    return outcomeOf({ variant: 'idle', goneMs }, { writerJournal });
  };
  test('finds itself cut, or not, at its first write', () => {
    expect(quiet(200)).toBe('cut');
    expect(quiet(45_000)).toBe('late-cut');
    expect(quiet(Infinity)).toBe('not-cut');
    expect(quiet(Infinity, Infinity)).toBe('pending');
  });
});

describe('the next pod', () => {
  const contested = { variant: 'contested' } as const;
  test('is in, while the first one writes on', () => {
    expect(classify(trialOf(contested, nextIn(61_000)))).toMatchObject({
      ...{ outcome: 'not-cut', next: { was: 'in', afterMs: 61_000 } },
    });
  });

  test('cuts the first one off as its volume is staged', () => {
    expect(outcomeOf({ ...contested, cutMs: 60_000 }, nextIn(61_000))).toBe('cut-by-next');
    expect(outcomeOf({ ...contested, cutMs: 30_000 }, nextIn(61_000))).toBe('late-cut');
    expect(outcomeOf({ ...contested, cutMs: 80_000 }, nextIn(61_000))).toBe('late-cut');
  });

  test('is refused by the driver, or barred by Kubernetes', () => {
    const refused = nextOut(
      'FailedMount',
      'MountVolume.MountDevice failed for volume "x": image is still being used',
    );
    const barred = nextOut(
      'FailedAttachVolume',
      'Multi-Attach error for volume "x" Volume is already used by pod(s) a',
    );
    const nextOf = (change: object): unknown => classify(trialOf(contested, change)).next;
    expect(nextOf(refused)).toMatchObject({
      was: 'refused',
      said: expect.stringContaining('image'),
    });
    const raw = nextOut('FailedMapVolume', 'MapVolume.SetUpDevice failed for volume "x": in use');
    expect(nextOf(raw)).toMatchObject({ was: 'refused' });
    const own = nextOut(
      'FailedMapVolume',
      'MapVolume.MapBlockVolume failed for volume "x": losetup',
    );
    expect(nextOf(own)).toMatchObject({ was: 'waited' });
    const unattached = nextOut('FailedAttachVolume', 'AttachVolume.Attach failed: attached to a');
    expect(nextOf(unattached)).toMatchObject({ was: 'not-attached' });
    expect(nextOf(barred)).toMatchObject({ was: 'barred' });
    const since137 = 'Waiting for detach for volume "x" Volume is already used by pod(s) a';
    expect(nextOf(nextOut('FailedAttachVolume', since137))).toMatchObject({ was: 'barred' });
    const patience = 'Unable to attach or mount volumes: timed out waiting for the condition';
    expect(nextOf(nextOut('FailedMount', patience))).toMatchObject({ was: 'waited' });
  });
});

describe('whatever the record', () => {
  const kinds = fc.record({
    variant: fc.constantFrom('kept', 'contested'),
    goneMs: fc.oneof(fc.integer({ min: 10, max: 90_000 }), fc.constant(Infinity)),
    cutMs: fc.oneof(fc.integer({ min: -4000, max: 99_000 }), fc.constant(Infinity)),
    behindMs: fc.integer({ min: -100_000, max: 100_000 }),
  });

  test("the node's clock does not matter", () => {
    fc.assert(
      fc.property(kinds, (kind) => {
        const shown = (behindMs: number): unknown => classify(trialOf({ ...kind, behindMs }));
        expect(shown(kind.behindMs)).toEqual(shown(0));
      }),
      { numRuns: 40 },
    );
  });

  test('a writer that was seen to write at the end is never called cut, nor the other way', () => {
    fc.assert(
      fc.property(kinds, (kind) => {
        const outcome = outcomeOf(kind);
        if (kind.cutMs === Infinity) expect(['not-cut', 'pending']).toContain(outcome);
        else expect(['not-cut', 'pending']).not.toContain(outcome);
        if (kind.goneMs === Infinity) expect(['cut', 'late-cut', 'not-cut']).not.toContain(outcome);
      }),
      { numRuns: 60 },
    );
  });
});

describe('evidence that is no fence', () => {
  const failing = (error: string) => {
    const writes = writesOf({ cutMs: 150 }).map((write) =>
      write.error === undefined ? write : { ...write, error },
    );
    return classify(trialOf({ cutMs: 150 }, { writerJournal: { ...emptyJournal, writes } }));
  };

  test.each(['ENOSPC', 'EDQUOT', 'ENOMEM', 'EAGAIN', 'EINTR', 'EMFILE'])(
    'errors of the machine, not of the disk: %s',
    (error) => expect(failing(error)).toMatchObject({ outcome: 'undecided' }),
  );
  test.each(['EIO', 'EROFS', 'ENODEV', 'EBADE'])('errors of the disk: %s', (error) =>
    expect(failing(error).outcome).toBe('cut'),
  );

  test('errors of the machine after a quiet time', () => {
    const writerJournal = {
      ...{ ...emptyJournal, quietMs: deletedMs - 1000, loudMs: deletedMs + 40_000 },
      writes: writesOf({ cutMs: 40_000 })
        .filter(({ begunMs }) => begunMs < deletedMs - 1000 || begunMs >= deletedMs + 40_000)
        .map((write) => (write.error === undefined ? write : { ...write, error: 'ENOSPC' })),
    };
    expect(outcomeOf({ variant: 'idle' }, { writerJournal })).toBe('undecided');
  });

  test('an error that came only at the end of the watch', () => {
    expect(outcomeOf({ cutMs: horizonMs - 2000 })).toBe('undecided');
  });

  test('a watch that ended before its time', () => {
    const trial = trialOf({ cutMs: 150 }, { watchEndedMs: deletedMs + 30_000 });
    expect(classify(trial, horizonMs)).toMatchObject({
      ...{ outcome: 'undecided', why: 'the watch lasted 30.0 s of 100.0 s' },
    });
    expect(classify(trialOf({ cutMs: 150 }), horizonMs).outcome).toBe('cut');
  });

  test('a next pod on the node of the writer', () => {
    const writer = { node: 'b', createdMs: deletedMs - 9000 };
    const record = trialOf({ variant: 'contested', cutMs: 150 }, { writer, ...nextIn(61_000) });
    expect(classify(record)).toMatchObject({
      ...{ outcome: 'undecided', why: 'both pods were on b: a second node was never tried' },
    });
  });
});
