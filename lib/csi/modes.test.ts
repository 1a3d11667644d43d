import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeArray } from '../../test/support/fake-array.ts';
import { attachVolume, detachVolume } from './backend.ts';
import type { Notes } from './grpc.ts';
import { layoutOf } from './layout.ts';
import type { Backend } from './paths.ts';
import { powerUp, publishedName } from './record.ts';
import { neededRecord, updateRecord } from './record-store.ts';
import { readAttributes } from './volume-attributes.ts';
import { createVolume } from './volumes.ts';
import { decideStage, type NodeTaints } from './modes.ts';

const volume = 'pv';
/** No machine has devices of such numbers. */
const loops = { first: 900000, last: 900007 };
const seconds = 1e9;

let array: FakeArray;
let backend: Backend;
let notes: Notes;
beforeEach(async () => {
  array = new FakeArray();
  const layout = layoutOf(mkdtempSync(join(tmpdir(), 'forcedetach-modes-')));
  backend = { layout, array };
  notes = {};
  await createVolume(backend, { volume, sizeBytes: 2 ** 20, shared: false });
});
afterEach(() => rm(backend.layout.root, { recursive: true }));

interface Asked {
  readonly context?: Readonly<Record<string, string>>;
  readonly manyNodes?: boolean;
}

async function attach(node: string, detachMode: string, asked: Asked = {}): Promise<number> {
  const { context = {}, manyNodes = false } = asked;
  const attributes = readAttributes({ detachMode, ...context });
  const request = { volume, node, attributes, manyNodes, notes };
  return (await attachVolume(backend, loops, request)).generation;
}

/** As staging does, without a mount. */
async function open(node: string): Promise<void> {
  const { attributes, attachments } = await neededRecord(backend.layout, volume);
  await decideStage({ backend, volume, node, attributes, notes });
  const held = attachments.findLast((each) => each.node === node);
  if (held === undefined) throw new TypeError(`${node} has no attachment`);
  const { generation, loop } = held;
  await array.open({ volume, node, generation, loop, keepData: false, flushes: 'honest' });
}

const noTaints: NodeTaints = { keysOf: () => Promise.resolve([]) };
const detach = (node: string, taints = noTaints): Promise<unknown> =>
  detachVolume(backend, { volume, node, taints, notes });

async function stateOf(generation: number): Promise<string | undefined> {
  return (await array.status(volume)).find((path) => path.generation === generation)?.state;
}

test('unfenced: the node keeps its path', async () => {
  await attach('a', 'unfenced');
  await open('a');
  await detach('a');
  expect(await stateOf(1)).toBe('open');
});

test('fenced: every path of the node is cut before the answer, also one never opened', async () => {
  await attach('a', 'unfenced');
  await open('a');
  await detach('a');
  await attach('a', 'fenced');
  expect(await detach('a')).toMatchObject([{ generation: 1 }]);
  expect(await stateOf(1)).toBe('cut');
  await expect(open('a')).rejects.toMatchObject({ code: 'PATH_CUT' });
  expect(await detach('a')).toEqual([]);
});

test('ack-early: the cut comes by itself, that much after the answer, and only once', async () => {
  await attach('a', 'ack-early', { context: { cutAfterMs: '5000' } });
  await open('a');
  await detach('a');
  expect(await stateOf(1)).toBe('open');
  expect(notes).toMatchObject({ cutAfterMs: 5000, toBeCut: [1] });
  array.clockNs += 4.9 * seconds;
  expect(await stateOf(1)).toBe('open');
  array.clockNs += 0.2 * seconds;
  expect(await stateOf(1)).toBe('cut');
});

test.each([
  [[], 'open', false],
  [['node.kubernetes.io/unreachable'], 'open', false],
  [['node.kubernetes.io/out-of-service'], 'cut', true],
])('fence-if-out-of-service: taints %j leave the path %s', async (keys, state, found) => {
  await attach('a', 'fence-if-out-of-service');
  await open('a');
  await detach('a', { keysOf: () => Promise.resolve(keys) });
  expect(await stateOf(1)).toBe(state);
  expect(notes['outOfServiceTaint']).toBe(found);
});

test('fence-if-out-of-service: without an answer nothing is detached', async () => {
  await attach('a', 'fence-if-out-of-service');
  const mute: NodeTaints = { keysOf: () => Promise.reject(new TypeError('no answer')) };
  await expect(detach('a', mute)).rejects.toMatchObject({ code: status.UNAVAILABLE });
  await expect(attach('b', 'fence-if-out-of-service')).rejects.toThrow(/attached to a/);
});

test('pending-while-busy: refused while mounted, here and elsewhere; a dead node is not', async () => {
  const anywhere = { manyNodes: true };
  await attach('a', 'pending-while-busy', anywhere);
  await open('a');
  array.use(volume, 1, { claimed: true });
  const busy = { code: status.FAILED_PRECONDITION };
  await expect(detach('a')).rejects.toMatchObject(busy);
  await expect(attach('b', 'pending-while-busy', anywhere)).rejects.toMatchObject(busy);
  array.use(volume, 1, { claimed: false });
  await detach('a');
  expect(await stateOf(1)).toBe('cut');
  expect(await attach('b', 'pending-while-busy', anywhere)).toBe(2);
});

test.each(['unfenced', 'fenced'] as const)(
  '%s: where attach is granted, the record of one node keeps no other away',
  async (mode) => {
    await attach('a', mode);
    await open('a');
    await expect(attach('b', mode)).rejects.toThrow(/attached to a/);
    expect(await attach('b', mode, { context: { attachWhileBusy: 'granted' } })).toBe(2);
    await detach('a');
    const rest = { unfenced: 'open', fenced: 'cut' };
    expect(await stateOf(1)).toBe(rest[mode]);
  },
);

test('pending-while-busy: where attach is granted, only the detach is refused', async () => {
  const context = { attachWhileBusy: 'granted' };
  await attach('a', 'pending-while-busy', { context });
  await open('a');
  array.use(volume, 1, { claimed: true });
  await expect(detach('a')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await attach('b', 'pending-while-busy', { context })).toBe(2);
  expect(await stateOf(1)).toBe('open');
});

test('exclusive: who has it open watches it; a clean close ends that at once', async () => {
  await attach('a', 'exclusive');
  await open('a');
  await detach('a');
  await attach('b', 'exclusive');
  await expect(open('b')).rejects.toMatchObject({ code: status.INTERNAL });
  expect(notes['watchers']).toEqual(['a/1']);
  await array.close({ volume, generation: 1 });
  await open('b');
  expect(await stateOf(2)).toBe('open');
});

test.each([
  ['a cut', () => array.losePower({ volume, node: 'a', unflushed: 'keeps', seed: '' })],
  ['a stalled link', () => array.link({ node: 'a', state: 'stall' })],
])('exclusive: after %s the watch runs out in 30 s', async (_, fall) => {
  await attach('a', 'exclusive');
  await open('a');
  await detach('a');
  await attach('b', 'exclusive');
  await fall();
  array.clockNs += 29.9 * seconds;
  await expect(open('b')).rejects.toThrow(/still being used by a/);
  array.clockNs += 0.2 * seconds;
  await open('b');
});

test('exclusive: a silent writer whose link comes back writes beside its successor', async () => {
  await attach('a', 'exclusive');
  await open('a');
  await detach('a');
  await array.link({ node: 'a', state: 'stall' });
  array.clockNs += 31 * seconds;
  await attach('b', 'exclusive');
  await open('b');
  await array.link({ node: 'a', state: 'pass' });
  expect([await stateOf(1), await stateOf(2)]).toEqual(['open', 'open']);
});

test('exclusive: no answer about watchers fails, but for an image that nobody else ever had', async () => {
  const context = { watcherCheck: 'missing' };
  await attach('a', 'exclusive', { context });
  await open('a');
  await array.close({ volume, generation: 1 });
  await detach('a');
  await attach('b', 'exclusive', { context });
  await expect(open('b')).rejects.toMatchObject({ code: status.INTERNAL });
});

test('exclusive: of two that ask at once both may find nobody, and both open', async () => {
  const anywhere = { manyNodes: true };
  await attach('a', 'exclusive', anywhere);
  await attach('b', 'exclusive', anywhere);
  // Nobody opens before both were told that they may.
  const bothMay = Promise.withResolvers<void>();
  let opening = 0;
  array.before = (request) => {
    if (request !== 'open') return undefined;
    opening += 1;
    if (opening === 2) bothMay.resolve();
    return bothMay.promise;
  };
  await Promise.all([open('a'), open('b')]);
  expect([await stateOf(1), await stateOf(2)]).toEqual(['open', 'open']);
});

test('reservation: the new registrant cuts the others, who need a new attachment', async () => {
  const anywhere = { manyNodes: true };
  await attach('a', 'reservation', anywhere);
  await open('a');
  await attach('b', 'reservation', anywhere);
  await open('b');
  expect(notes['preempted']).toMatchObject([{ generation: 1 }]);
  expect([await stateOf(1), await stateOf(2)]).toEqual(['cut', 'open']);
  const { attachments } = await neededRecord(backend.layout, volume);
  expect(attachments[0]).toMatchObject({ node: 'a', state: 'cut', cutFor: 'fence' });
  const booted = await updateRecord(backend.layout, volume, (now) =>
    powerUp(now, 'a', { loop: loops.last, wallMs: 1 }),
  );
  expect(booted.attachments).toHaveLength(2);
  expect(booted.attachments.map(publishedName)).toEqual([1, 2]);
});

test('reservation: also who was detached by bookkeeping is cut by the next one', async () => {
  await attach('a', 'reservation');
  await open('a');
  await detach('a');
  expect(await stateOf(1)).toBe('open');
  await attach('b', 'reservation');
  await open('b');
  expect(await stateOf(1)).toBe('cut');
});

test('reservation: of two that register at once the first wins, and keeps its path', async () => {
  await attach('a', 'reservation', { manyNodes: true });
  await attach('b', 'reservation', { manyNodes: true });
  await open('a');
  await expect(open('b')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await stateOf(1)).toBe('open');
  const { attachments } = await neededRecord(backend.layout, volume);
  expect(attachments.map(({ state }) => state)).toEqual(['attached', 'cut']);
});

test('reservation: a staging that goes on late takes nothing from the new registrant', async () => {
  await attach('a', 'reservation');
  await detach('a');
  await attach('b', 'reservation');
  await open('b');
  await expect(open('a')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await stateOf(2)).toBe('open');
});

test('shared-file: the block driver refuses it', async () => {
  await attach('a', 'shared-file');
  await expect(open('a')).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
});

test('one node at a time, unless the volume was declared for many', async () => {
  await attach('a', 'unfenced');
  const second = attach('b', 'unfenced');
  await expect(second).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
  expect(await attach('b', 'unfenced', { manyNodes: true })).toBe(2);
});

test.each([
  { detachMode: 'sometimes' },
  { cutAfterMs: '-1' },
  { cutAfterMs: 'soon' },
  { keepWrites: 'yes' },
])('attributes %j are refused', (context) => {
  expect(() => readAttributes(context)).toThrow(/volume attributes: /);
});
