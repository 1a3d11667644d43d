/** Lines of container logs, and the command that follows them, as a shell runs it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { observed } from '../../history/observations.ts';
import { declareObserver, type Recorder } from '../../history/observers.ts';
import { openStream } from '../engine/run.ts';
import { followPodLogs, liveOn, type NodeLife, parseLogLine } from './logs.ts';

const file = '/var/log/pods/default_mysql-0_6a1f8e5c-0d9b-4b3e/mysql/2.log';

test('a line of a CRI log is told by pod, restart and time', () => {
  const raw = `${file} 2026-11-21T09:00:00.123456789Z stderr F mysqld: ready for connections.`;
  expect(parseLogLine('worker', raw)).toEqual({
    node: 'worker',
    file,
    podUid: '6a1f8e5c-0d9b-4b3e',
    restart: 2,
    wallMs: Date.UTC(2026, 10, 21, 9, 0, 0, 123),
    stream: 'stderr',
    text: 'mysqld: ready for connections.',
  });
});

test('an empty line and a time with an offset are lines too', () => {
  const raw = `${file} 2026-11-21T10:00:00.5+01:00 stdout F `;
  expect(parseLogLine('worker', raw)).toMatchObject({
    text: '',
    wallMs: Date.UTC(2026, 10, 21, 9, 0, 0, 500),
  });
});

test('what is no log line is passed over', () => {
  expect(parseLogLine('worker', 'tail: file truncated')).toBeUndefined();
  expect(parseLogLine('worker', `${file} not-a-time stderr F text`)).toBeUndefined();
});

describe('one who follows for an observer', () => {
  /** The real command on this machine, without the node; `pass`: which of its lines arrive. */
  const follow = (pass: (line: string) => boolean, beats: string[]): AsyncDisposable => {
    const folder = mkdtempSync(join(tmpdir(), 'pod-log-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const log = join(folder, 'default_mysql-0_6a1f/mysql');
    mkdirSync(log, { recursive: true });
    const lines = ['one', 'two'].map((text) => `2026-11-21T09:00:00Z stderr F ${text}\n`);
    writeFileSync(join(log, '0.log'), lines.join(''));
    return followPodLogs('worker', join(folder, '*/mysql/*.log'), ({ text }) => beats.push(text), {
      openStream: ([, , , , ...argv], onLine) =>
        openStream(argv, (line) => void (pass(line) && onLine(line))),
      beating: { beat: () => beats.push('beat'), end: () => beats.push('end') },
    });
  };

  test('beats once all lines have come, and ends', async () => {
    const said: string[] = [];
    const following = follow(() => true, said);
    await vi.waitFor(() => expect(said).toContain('beat'), 10_000);
    await following[Symbol.asyncDispose]();
    expect(said).toEqual(['one', 'two', 'beat', 'end']);
  });

  test('does not beat while a line is kept from it', async () => {
    const said: string[] = [];
    const raw: string[] = [];
    const keep = (line: string): boolean => {
      raw.push(line);
      return !line.endsWith('two');
    };
    const following = follow(keep, said);
    await vi.waitFor(() => expect(raw.join('\n')).toContain('beat'), 10_000);
    await following[Symbol.asyncDispose]();
    expect(said).toEqual(['one', 'end']);
  });
});

const begin = (why: () => Promise<string | undefined>): { said: unknown[][]; life: NodeLife } => {
  const said: unknown[][] = [];
  const recorder: Recorder = {
    record: (record) => {
      if (record.type !== 'observation') return;
      said.push([
        record.name,
        record.node,
        ...(record.data['reason'] ? [record.data['reason']] : []),
      ]);
    },
    subscribe: () => () => undefined,
  };
  const beating = declareObserver(recorder, { observer: 'mysqld', sees: ['mysqld'], node: 'a' });
  return { said, life: liveOn('a', beating, { why, patienceMs: 30, lookEveryMs: 5 }) };
};

const { observerBegan: began, observerBeat: beat, observerEnded: ended } = observed;

test('a node that is off ends it, once, and its next beat begins anew', async () => {
  const { said, life } = begin(() => Promise.resolve('the node is switched off'));
  await vi.waitFor(() => expect(said.length).toBeGreaterThan(1));
  life.beat();
  await life[Symbol.asyncDispose]();
  expect(said).toEqual([
    [began, 'a'],
    [ended, 'a', 'the node is switched off'],
    [began, 'a'],
    [beat, 'a'],
    [ended, 'a'],
  ]);
});

test('a silence on a node that runs, or that nobody can ask about, is no end', async () => {
  for (const why of [() => Promise.resolve(undefined), () => Promise.reject(new Error('silent'))]) {
    const asked = vi.fn(why);
    const { said, life } = begin(asked);
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    expect(said).toEqual([[began, 'a']]);
    await life[Symbol.asyncDispose]();
    expect(said.at(-1)).toEqual([ended, 'a']);
  }
});
