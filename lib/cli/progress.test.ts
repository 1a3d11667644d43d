import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Clock } from '../cluster/clock.ts';
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
  clock.ms = 12_400;
  progress.say('another node mounted the volume');
  await progress.end();
  expect(text().split('\n')).toEqual([
    '[1 s] — prepare the cluster, the volume and MySQL',
    '[5 s, fault + 0 s] — fault',
    '[12 s, fault + 7 s] another node mounted the volume',
    '',
  ]);
  expect(progress.current()).toBe('fault');
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
  progress.say('the victim is gone');
  await progress.end();
  // oxlint-disable-next-line no-control-regex
  const shown = text().replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '');
  expect(shown).toContain('the victim is gone');
  expect(shown).toMatch(/fault \(20 s, fault \+ 0 s\)/);
  expect(progress.current()).toBe('fault');
});
