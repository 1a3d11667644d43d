import { expect, test } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import {
  SqlError,
  type LedgerEntry,
  type SqlConnector,
  type SqlSession,
} from '../../history/workload.ts';
import { runWriter, type WriterOptions, type WriterRecord } from '../workload.ts';

type Answer = (entry: LedgerEntry) => Promise<void>;

const server = { node: 'worker', podUid: 'uid', startedAtS: 1 };
const commit: Answer = () => Promise.resolve();

const refuse =
  (outcome: 'fail' | 'info', fatal: boolean): Answer =>
  () =>
    Promise.reject(new SqlError('refused', { outcome, fatal, code: 'TEST' }));

interface Scene {
  readonly options: WriterOptions;
  readonly clock: VirtualClock;
  /** What was journaled and what was sent, in the order in which it happened. */
  readonly events: (WriterRecord | { readonly type: 'sent'; readonly entry: LedgerEntry })[];
  readonly sent: () => LedgerEntry[];
  readonly stop: () => void;
}

/** A writer on a server that answers by script; `connects` says which connects fail. */
function scene(
  answer: (entry: LedgerEntry, n: number) => Answer,
  overrides: Partial<WriterOptions> = {},
  connects: (n: number) => boolean = () => true,
): Scene {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const events: Scene['events'] = [];
  const waiting: WriterRecord[] = [];
  let connected = 0;
  let sent = 0;
  const send = (entry: LedgerEntry): Promise<void> => {
    expect(waiting).toEqual([]);
    events.push({ type: 'sent', entry });
    return answer(entry, sent++)(entry);
  };
  const session: SqlSession = {
    server,
    append: send,
    transfer: send,
    put: send,
    remove: send,
    changeSchema: () => Promise.reject(new Error('a writer changes no schema')),
    readHead: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
  const connector: SqlConnector = {
    connect: () =>
      connects(connected++)
        ? Promise.resolve(session)
        : Promise.reject(new SqlError('down', { outcome: 'fail', fatal: true, code: 'DOWN' })),
  };
  const options: WriterOptions = {
    connector,
    clock,
    journal: {
      append: (record) => waiting.push(record),
      // Its beats have a test of their own (beating.test.ts).
      flush: () => events.push(...waiting.splice(0).filter(({ type }) => type !== 'client-beat')),
    },
    spec: { client: 'inside', connections: 1, rate: 10, seed: 'writer' },
    seed: 'run',
    signal: stopping.signal,
    ...overrides,
  };
  return {
    options,
    clock,
    events,
    sent: () => events.flatMap((event) => (event.type === 'sent' ? [event.entry] : [])),
    stop: () => stopping.abort(new Error('stop')),
  };
}

async function play(the: Scene, ms: number): Promise<void> {
  const running = runWriter(the.options);
  await the.clock.advance(ms);
  the.stop();
  await the.clock.advance(10_000);
  await running;
}

test('an invoke is on file before it is sent, an outcome before the next is sent', async () => {
  const the = scene(() => commit);
  await play(the, 950);
  const [session, ...operations] = the.events;
  expect(session).toMatchObject({ type: 'session', session: 0, server });
  expect(operations.map(({ type }) => type)).toEqual(
    Array.from({ length: 10 }, () => ['invoke', 'sent', 'outcome']).flat(),
  );
  expect(operations.filter(({ type }) => type === 'outcome')).toEqual(
    Array.from({ length: 10 }, (_, seq) => expect.objectContaining({ seq, outcome: 'ok' })),
  );
});

test('a failed operation uses up its seq and stays out of the chain', async () => {
  const the = scene((_, n) => (n === 1 ? refuse('fail', false) : commit));
  await play(the, 1000);
  const [first, failed, third] = the.sent();
  expect([first?.seq, failed?.seq, third?.seq]).toEqual([0, 1, 2]);
  expect(third?.previousHash).toBe(first?.hash);
  expect(new Set(the.sent().map(({ session }) => session))).toEqual(new Set([0]));
});

test.for([
  ['info', false],
  ['info', true],
  ['fail', true],
] as const)('after %s (fatal: %s) a new session begins a new chain', async ([outcome, fatal]) => {
  const the = scene((_, n) => (n === 1 ? refuse(outcome, fatal) : commit));
  await play(the, 1000);
  const [, lost, next] = the.sent();
  expect([lost?.session, lost?.seq]).toEqual([0, 1]);
  expect([next?.session, next?.seq]).toEqual([1, 0]);
  const ended = the.events.find((event) => event.type === 'outcome' && event.seq === 1);
  expect(ended).toMatchObject({ outcome, error: 'TEST: refused' });
});

test('a server that cannot be reached is asked again after 100 to 250 ms, and each time noted', async () => {
  const the = scene(
    () => commit,
    {},
    (n) => n === 5,
  );
  await play(the, 3000);
  const attempts = the.events.filter((event) => event.type === 'session');
  expect(attempts.map(({ session }) => session)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(attempts.slice(0, 5).every(({ error }) => error === 'DOWN: down')).toBe(true);
  for (const [n, { t }] of attempts.slice(1).entries()) {
    const pauseMs = t - (attempts[n]?.t ?? 0);
    expect(pauseMs).toBeGreaterThanOrEqual(100);
    expect(pauseMs).toBeLessThanOrEqual(250);
  }
  expect(the.sent().length).toBeGreaterThan(0);
});

test('a client that writes once a second is in no greater hurry to connect', async () => {
  const the = scene(
    () => commit,
    { spec: { client: 'inside', connections: 2, rate: 2, seed: 'writer' } },
    (n) => n === 12,
  );
  await play(the, 20_000);
  const attempts = the.events
    .filter((event) => event.type === 'session')
    .filter(({ connection }) => connection === 0);
  expect(attempts.length).toBeGreaterThan(3);
  for (const [n, { t }] of attempts.slice(1).entries()) {
    const pauseMs = t - (attempts[n]?.t ?? 0);
    expect(pauseMs).toBeGreaterThanOrEqual(400);
    expect(pauseMs).toBeLessThanOrEqual(1000);
  }
});

test('a server that refuses everything is not asked as fast as it can say no', async () => {
  const spec = { client: 'inside', connections: 1, rate: 'max', seed: 'writer' } as const;
  const the = scene(() => refuse('fail', false), { spec });
  await play(the, 1000);
  expect(the.sent().length).toBeLessThanOrEqual(11);
});

test('stopping waits for what is under way and sends nothing more', async () => {
  let acknowledge = (): void => undefined;
  const slow: Answer = () => new Promise((resolve) => (acknowledge = resolve));
  const the = scene(() => slow);
  const running = runWriter(the.options);
  await the.clock.advance(50);
  the.stop();
  await the.clock.advance(1000);
  expect(the.events.at(-1)?.type).toBe('sent');
  acknowledge();
  await running;
  expect(the.events.at(-1)).toMatchObject({ type: 'outcome', seq: 0, outcome: 'ok' });
  expect(the.sent().length).toBe(1);
});

test('an error that is not SQL’s is not taken for an outcome', async () => {
  const the = scene(() => () => Promise.reject(new TypeError('a bug')));
  const running = runWriter(the.options);
  const failed = expect(running).rejects.toThrow('a bug');
  await the.clock.advance(100);
  await failed;
});
