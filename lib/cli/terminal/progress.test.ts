import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../clock.ts';
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

test('without a terminal: one line each, with the run’s clock and the fault’s', async () => {
  const { stream, text } = terminal(false);
  const clock = clockAt();
  const progress = startProgress(stream, clock);
  clock.ms = 1000;
  progress.phase('prepare');
  clock.ms = 5000;
  progress.phase('fault');
  progress.fault(5200);
  clock.ms = 12_400;
  progress.say('another node mounted the volume');
  progress.wait('its commits');
  progress.wait(undefined);
  await progress.end();
  expect(text().split('\n')).toEqual([
    '[1 s] — prepare the cluster, the volume and MySQL',
    '[5 s] — fault',
    '[12 s, fault + 7 s] another node mounted the volume',
    '[12 s, fault + 7 s] waiting for its commits',
    '',
  ]);
});

test('on a terminal: news stand under their own phase, and the end is reached', async () => {
  const { stream, text } = terminal(true);
  const clock = clockAt();
  const progress = startProgress(stream, clock);
  progress.phase('prepare');
  progress.say('MySQL starts');
  progress.phase('steady');
  clock.ms = 20_000;
  progress.phase('fault');
  progress.fault(20_000);
  progress.say('the victim is gone');
  await progress.end();
  // oxlint-disable-next-line no-control-regex
  const shown = text().replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '');
  expect(shown).toContain('the victim is gone');
  expect(shown).toMatch(/fault \(20 s, fault \+ 0 s\)/);
});

test('on a terminal the phase under way says what it waits for, and takes its own name again', async () => {
  const { stream, text } = terminal(true);
  const progress = startProgress(stream, clockAt());
  progress.phase('watch');
  await vi.waitFor(() => expect(text()).toContain('remedy, and watch'));
  progress.wait('the force-detach: expected at +709 s');
  await vi.waitFor(() =>
    expect(text()).toContain('waiting for the force-detach: expected at +709'),
  );
  progress.phase('heal');
  await progress.end();
  expect(text().lastIndexOf('remedy, and watch')).toBeGreaterThan(
    text().lastIndexOf('waiting for'),
  );
});

test('without a terminal a wait that lasts is told again', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { stream, text } = terminal(false);
  const progress = startProgress(stream, clockAt());
  progress.wait('the eviction');
  vi.advanceTimersByTime(130_000);
  await progress.end();
  vi.advanceTimersByTime(130_000);
  expect(text().match(/still waiting for the eviction/g)).toHaveLength(2);
});
