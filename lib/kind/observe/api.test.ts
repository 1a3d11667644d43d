/** A watch that knows what is listed beats; one whose source has died is silent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { beatWhileSeeing, type Watching } from './api.ts';

const object = (
  resourceVersion: string,
): { metadata: { name: string; resourceVersion: string } } => ({
  metadata: { name: 'a', resourceVersion },
});

const times = { everyMs: 1, listedWithinMs: 20, knownWithinMs: 1 };

async function beats(watch: Watching): Promise<number> {
  let count = 0;
  const ended = new AbortController();
  const beating = beatWhileSeeing([watch], { beat: () => void (count += 1) }, ended.signal, times);
  await sleep(60);
  ended.abort();
  await beating;
  return count;
}

const listing =
  (version: string): Watching['list'] =>
  () =>
    Promise.resolve({ items: [object(version)] });

test('it beats while it knows what is there', async () => {
  expect(await beats({ list: listing('9'), known: () => object('10') })).toBeGreaterThan(0);
});

test.each<[string, Watching]>([
  ['it is behind', { list: listing('10'), known: () => object('9') }],
  ['it does not know what is there', { list: listing('9'), known: () => undefined }],
  ['the server refuses', { list: () => Promise.reject(new Error('no')), known: () => object('9') }],
  ['the server is silent', { list: () => new Promise(() => undefined), known: () => object('9') }],
])('it is silent where %s', async (_, watch) => {
  expect(await beats(watch)).toBe(0);
});

test('a watch that dies beats no more', async () => {
  let version = 9;
  let count = 0;
  const ended = new AbortController();
  const list = (): ReturnType<Watching['list']> => listing(`${version}`)();
  const watch: Watching = { list, known: () => object('9') };
  const beating = beatWhileSeeing([watch], { beat: () => void (count += 1) }, ended.signal, times);
  await sleep(40);
  version = 10;
  await sleep(20);
  const before = count;
  await sleep(40);
  ended.abort();
  await beating;
  expect(before).toBeGreaterThan(0);
  expect(count).toBe(before);
});
