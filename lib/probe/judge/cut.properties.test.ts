/** Whatever two pods do, a cut's answer claims no more than was heard of both. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CutFinding, classifyCut } from './cut.ts';
import { answeredMs } from './heard.ts';
import type { CutVolume } from './record.ts';
import { cutRecord as cut, cutVolume } from '../../../test/support/cut-volume.ts';

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

  function holds(property: (volume: CutVolume, finding: CutFinding) => void): void {
    const check = fc.property(times, (drawn: Drawn) => {
      const { inMs, nextError, gapMs, ...kind } = drawn;
      const volume = cutVolume({
        ...kind,
        ...(inMs === undefined ? {} : { inMs, goneMs: Math.min(inMs - gapMs, 300_000) }),
        ...(nextError === undefined ? {} : { nextError }),
      });
      property(volume, classifyCut(cut, volume, 'force-delete'));
    });
    fc.assert(check, { numRuns: 100 });
  }
  const acked = ({ writerJournal }: CutVolume) =>
    writerJournal.writes.filter(({ error }) => error === undefined);

  test('who was cut off was told so', () => {
    holds((volume, { outcome }) => {
      if (!/^cut-|^late-cut$|^path-cut$/.test(outcome)) return;
      const last = acked(volume).at(-1);
      const failed = volume.writerJournal.writes.find(
        (write) => write.error !== undefined && write.seq > (last?.seq ?? -1),
      );
      expect(failed).toBeDefined();
    });
  });

  test('two writers are two', () => {
    holds((volume, { outcome }) => {
      if (!/^(both-wrote|late-cut|wrote-after-heal)$/.test(outcome)) return;
      expect(volume.nextJournal.writes.some(({ error }) => error === undefined)).toBe(true);
    });
  });

  test('who writes after the heal is not a writer whose path was cut', () => {
    holds((volume, { outcome }) => {
      const isLate = acked(volume).some((write) => answeredMs(write) >= 400_000);
      if (isLate) expect(outcome).not.toMatch(/^path-cut$|^cut-/);
    });
  });

  test('a fenced disk has no write beside the next pod’s', () => {
    holds((_, { modes, overlapAcks, overlapSlots = 0 }) => {
      if (overlapAcks + overlapSlots > 0) expect(modes).not.toContain('fenced');
    });
  });
});
