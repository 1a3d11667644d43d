import { expect, test } from 'vitest';
import { Kernel } from './kernel.ts';
import { Process } from './process.ts';

test('what falls due while it stands still waits, in order', () => {
  const kernel = new Kernel();
  const process = new Process(kernel);
  const done: string[] = [];
  process.after(10, () => done.push('first'));
  process.after(20, () => done.push('second'));
  process.standStill();
  kernel.runUntil(30);
  expect(done).toEqual([]);
  process.goOn();
  kernel.runUntil(30);
  expect(done).toEqual(['first', 'second']);
});

test('what was under way before its end never happens', () => {
  const kernel = new Kernel();
  const process = new Process(kernel);
  const done: string[] = [];
  process.after(10, () => done.push('before'));
  process.end();
  process.after(10, () => done.push('after'));
  kernel.runUntil(30);
  expect(done).toEqual(['after']);
});

test('it stands still with what it needs, and goes on only when both do', () => {
  const kernel = new Kernel();
  const host = new Process(kernel);
  const process = new Process(kernel, host);
  const done: number[] = [];
  process.after(10, () => done.push(kernel.nowUs));
  host.standStill();
  process.standStill();
  kernel.runUntil(20);
  host.goOn();
  kernel.runUntil(30);
  expect({ done, still: process.still }).toEqual({ done: [], still: true });
  process.goOn();
  kernel.runUntil(40);
  expect(done).toEqual([30]);
});
