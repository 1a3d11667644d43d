import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../core/time.ts';
import { startProgress } from './progress.ts';

function clockAt(): Clock & { ms: number } {
  return {
    ms: 0,
    nowMs() {
      return this.ms;
    },
    wallMs: () => 0,
    sleep: () => Promise.resolve(),
  };
}

function terminal(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  const stream = new PassThrough();
  const chunks: string[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  const terminalLike = Object.assign(stream, { isTTY, columns: 100, rows: 40 });
  return { stream: terminalLike as unknown as NodeJS.WriteStream, text: () => chunks.join('') };
}

/** What such a terminal shows in the end: of each line what was written after it was last cleared. */
const shownOf = (text: string): string[] =>
  // oxlint-disable-next-line no-control-regex
  text.split('\n').map((line) => line.split(/\u001B\[\d?[GK]/).at(-1) ?? '');

test('on a terminal events stay, above one line with the clock and the wait', () => {
  const { stream, text } = terminal(true);
  const clock = clockAt();
  const progress = startProgress(stream, clock);
  onTestFinished(() => progress.end());
  progress.phase('watch');
  progress.say('the node is NotReady');
  progress.wait({ clause: 'the eviction: expected at +30 s', dueAtMs: 30_000 });
  for (const line of ['the pod is evicted', 'the old pod is gone', 'the volume is detached']) {
    progress.say(line);
  }
  const log = [
    '[0 s] — remedy, and watch what Kubernetes does',
    '[0 s] the node is NotReady',
    '[0 s] the pod is evicted',
    '[0 s] the old pod is gone',
    '[0 s] the volume is detached',
  ];
  expect(shownOf(text())).toEqual([...log, '[0 s] waiting for the eviction: expected at +30 s']);
  progress.wait(undefined);
  expect(shownOf(text()).at(-1)).toBe('[0 s] remedy, and watch what Kubernetes does');
  progress.wait({ clause: 'a'.repeat(200) });
  expect(shownOf(text()).at(-1)).toHaveLength(99);
  progress.end();
  expect(shownOf(text())).toEqual([...log, '']);
});

test('without a terminal a wait that lasts is repeated, and says how late it is', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { stream, text } = terminal(false);
  const clock = clockAt();
  const progress = startProgress(stream, clock);
  progress.wait({ clause: 'the eviction, expected at +80 s', dueAtMs: 80_000 });
  for (const nowMs of [60_000, 120_000]) {
    clock.ms = nowMs;
    vi.advanceTimersByTime(60_000);
  }
  progress.end();
  vi.advanceTimersByTime(130_000);
  expect(text().split('\n')).toEqual([
    '[0 s] waiting for the eviction, expected at +80 s',
    '[60 s] still waiting for the eviction, expected at +80 s',
    '[120 s] still waiting for the eviction, expected at +80 s; 40 s late',
    '',
  ]);
});
