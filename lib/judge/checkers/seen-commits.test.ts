/** Commits of unknown outcome that were seen: their loss is a loss. */
import { expect, test } from 'vitest';
import type { Finding } from '../verdict/verdict.ts';
import type { OpOutcome } from '../../history/workload.ts';
import { exampleLedger, healthyEvidence, rowsOf } from '../../../test/support/example-ledger.ts';
import { judgedWith } from '../../../test/support/judged-images.ts';
import { SeenCommits } from './reconcile.ts';

/** Of `outcome`, behind three acknowledged ones. */
const ledgerWith = (outcome: OpOutcome): ReturnType<typeof exampleLedger> => {
  const acked = { outcome: 'ok' as const, stored: true };
  const ops = [acked, acked, acked, { outcome, stored: true }];
  return exampleLedger([{ client: 'outside', connection: 0, session: 0, node: 'a', ops }]);
};

const last = { client: 'outside', connection: 0, session: 0, seq: 3 };
const readAt = (atMs: number): SeenCommits => {
  const seen = new SeenCommits();
  seen.add({ ...last, atMs, by: 'the inside client on a' });
  return seen;
};

interface Case {
  readonly outcome?: OpOutcome;
  readonly seen?: SeenCommits;
  readonly unreadable?: readonly number[];
  readonly isJournaled?: boolean;
}

/** Of three images, taken at 1000, 2000 and 3000 ms; each has so many of the four rows. */
function judged(
  counts: readonly number[],
  { outcome = 'info', seen = new SeenCommits(), unreadable = [], isJournaled = true }: Case = {},
): readonly Finding[] {
  const { entries, ops } = ledgerWith(outcome);
  const images = counts.map((count, n) => {
    const rows = rowsOf(entries.slice(0, count));
    return {
      rows,
      evidence: { ...healthyEvidence(rows), ledgerComplete: !unreadable.includes(n) },
    };
  });
  return judgedWith(images, isJournaled ? ops : [], { seen });
}

const codes = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code);
const lost = 'LEDGER_LOST';
const unread = { unreadable: [1] };
const read = (atMs: number): Case => ({ seen: readAt(atMs) });
const unsent: Case = { ...read(500), isJournaled: false };

test.each<[string, readonly number[], Case, readonly string[]]>([
  ['of unknown outcome that is there', [4, 4, 4], {}, []],
  ['of unknown outcome that is not there', [3, 3, 3], {}, []],
  ['of unknown outcome that comes', [3, 4, 4], {}, []],
  ['that an image has and later ones have not', [4, 3, 3], {}, [lost, lost]],
  ['that a client read and no later image has', [3, 3, 3], read(1500), [lost, lost]],
  ['that a client read and later images have', [3, 4, 4], read(1500), []],
  ['that a client read after the images', [3, 3, 3], read(3500), []],
  ['that a client read, no journal has, and is gone', [0], unsent, [lost]],
  ['that a client read, no journal has, and is there', [4], unsent, ['LEDGER_UNJOURNALED']],
  ['that was acknowledged is counted as such', [3], { outcome: 'ok', ...read(500) }, [lost]],
  ['that was refused', [3], { outcome: 'fail', ...read(500) }, []],
])('a commit %s', (_, counts, scene, found) => {
  const ofLedger = codes(judged(counts, scene)).filter((code) => code.startsWith('LEDGER_'));
  expect(ofLedger).toEqual(found);
});

test('one that an image has is lost where a later one has it not', () => {
  const [found] = judged([3, 4, 3]);
  expect(found).toMatchObject({ code: lost, safety: 'lost', loud: false });
  expect(found?.summary).toContain('second image: 1 commit gone that nobody acknowledged');
  expect(found?.evidence).toEqual(['outside/0/0/3: seen by the first image at 2.000 s']);
  // The image in between need not be readable.
  expect(codes(judged([4, 0, 3], unread)).filter((code) => code === lost)).toHaveLength(1);
});
