import { expect, test } from 'vitest';
import { EvidenceError, InterruptError } from '../../core/errors.ts';
import type { ServerStart } from '../../history/evidence.ts';
import { EvidenceDraft, type AuditServer } from './evidence-draft.ts';

const { signal } = new AbortController();
const living = { died: undefined, diedSoon: () => Promise.resolve(false) };
const dying = { died: undefined, diedSoon: () => Promise.resolve(true) };
const fails = (why: Error) => (): Promise<void> => Promise.reject(why);

test('what a living server refuses is evidence, not a gap', async () => {
  const draft = new EvidenceDraft(signal);
  const why = { code: 'ER_NO_SUCH_TABLE', sqlState: '42S02' };
  const error = Object.assign(new Error("Table 'ledger' doesn't exist"), why);
  const said = "ER_NO_SUCH_TABLE: Table 'ledger' doesn't exist";
  expect(await draft.ask('ledger', living, fails(error))).toBe(said);
  expect(draft.evidence.sqlFailures).toEqual([{ what: 'ledger', error: said }]);
  expect(draft.evidence.failures).toEqual([]);
});

test.each([
  [2, 0],
  [1, 7],
])('what proves no damage is asked again, unless rows came: %i times', async (times, rows) => {
  const draft = new EvidenceDraft(signal, undefined, { waitMs: 0 });
  let asked = 0;
  await draft.ask('ledger', living, async () => {
    draft.evidence.ledgerRows = rows;
    if ((asked += 1) === 1) throw new Error('Lock wait timeout exceeded');
  });
  expect(asked).toBe(times);
  expect(draft.evidence.sqlFailures).toHaveLength(2 - times);
});

test('a server that is only slow is a gap: it accuses nobody', async () => {
  const draft = new EvidenceDraft(signal);
  const slow = new EvidenceError('AUDIT_STATEMENT_HUNG', 'no answer within 60 s');
  expect(await draft.ask('ledger', living, fails(slow))).toContain('AUDIT_STATEMENT_HUNG');
  expect(draft.evidence.sqlFailures).toEqual([]);
  expect(draft.evidence.failures).toEqual(['ledger: AUDIT_STATEMENT_HUNG: no answer within 60 s']);
});

test('a server that dies of a question has a record of its own', async () => {
  const draft = new EvidenceDraft(signal);
  expect(await draft.ask('ledger', dying, fails(new Error('connection lost')))).toBeDefined();
  expect(draft.evidence.sqlFailures).toEqual([]);
  expect(draft.evidence.failures).toEqual([]);
});

test('a dead server is asked nothing', async () => {
  const draft = new EvidenceDraft(signal);
  let asked = 0;
  await draft.ask('ledger', { ...dying, died: 'SIGSEGV' }, () =>
    Promise.resolve(void (asked += 1)),
  );
  expect(asked).toBe(0);
});

test('an abort ends the work; it is no gap', async () => {
  const aborter = new AbortController();
  const draft = new EvidenceDraft(aborter.signal);
  const step = draft.step('fsck', () => {
    aborter.abort(new InterruptError('INTERRUPTED', 'ended'));
    return Promise.reject(new Error('killed'));
  });
  await expect(step).rejects.toThrow('ended');
  expect(draft.evidence.failures).toEqual([]);
});

/** Tries to start servers that end so, one after the other; resolves to what is kept. */
async function served(...ends: readonly Partial<ServerStart>[]): Promise<[number, ServerStart[]]> {
  let begun = 0;
  const start = (): AuditServer => {
    const end = ends[begun++];
    return {
      ...living,
      refused: undefined,
      ready: () => Promise.resolve(undefined),
      kill: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      record: () =>
        Promise.resolve({ purpose: 'cold', ready: false, durationMs: 1, errorLines: [], ...end }),
    };
  };
  const draft = new EvidenceDraft(signal, undefined, { start, waitMs: 0 });
  const about = { purpose: 'cold', dataDirectory: '/data', scratch: '/scratch' } as const;
  await draft.serve(about, () => Promise.resolve());
  return [begun, draft.evidence.starts];
}

const noMemory = { died: 'exit code 1', errorLines: ['[InnoDB] mmap(9 bytes) failed; errno 12'] };

test('a server that the machine kept from starting is started again; the last try is kept', async () => {
  expect(await served(noMemory, { ready: true })).toMatchObject([2, [{ ready: true }]]);
  expect(await served(noMemory, noMemory, noMemory)).toMatchObject([3, [noMemory]]);
});

test('one that its volume kept from starting is not', async () => {
  const damaged = {
    died: 'SIGABRT',
    errorLines: ['[ERROR] [MY-011906] [InnoDB] Database page corruption'],
  };
  expect(await served(damaged)).toMatchObject([1, [damaged]]);
});
