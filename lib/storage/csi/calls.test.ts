/** What a declared answer does to a call, on a shared directory of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { absenceOn, answerCalls, asDeclared, letGo, showAlive } from './calls.ts';
import type { CallNotes } from './grpc.ts';
import { layoutOf, type Layout } from './layout.ts';

let layout: Layout;
let notes: CallNotes;
let gone: boolean;

beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), 'forcedetach-calls-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  layout = layoutOf(root);
  [notes, gone] = [{}, false];
});

function ask(
  name: string,
  request: { readonly volumeId: string; readonly nodeId?: string },
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  const isGone = (): Promise<boolean> => Promise.resolve(gone);
  // A process of its own each time: nothing is kept in memory.
  const around = asDeclared({ layout, host: 'a', isGone }, (_, work) => work((notes = {})));
  return around({ name, request, signal }, async () => name);
}
const unpublish = 'ControllerUnpublishVolume';
const onNode = { volumeId: 'v', nodeId: 'a' };

test('so many calls for each node are refused, and calls about another volume are not', async () => {
  await answerCalls(layout, 'v', 'unpublish=NOT_FOUND*2');
  const error = { code: 5, message: expect.stringContaining('unpublish of v on a is refused') };
  await expect(ask(unpublish, onNode)).rejects.toMatchObject(error);
  expect(notes['answered']).toBe('NOT_FOUND');
  expect(await ask(unpublish, { volumeId: 'w', nodeId: 'a' })).toBe(unpublish);
  expect(await ask('NodeStageVolume', { volumeId: 'v' })).toBe('NodeStageVolume');
  expect(await ask(unpublish, { volumeId: '../v', nodeId: 'a' })).toBe(unpublish);
  await expect(ask(unpublish, onNode)).rejects.toMatchObject(error);
  expect(await ask(unpublish, onNode)).toBe(unpublish);
  expect(notes).toEqual({});
  await expect(ask(unpublish, { volumeId: 'v', nodeId: 'b' })).rejects.toMatchObject({ code: 5 });
});

test('without an answer a call ends once its caller gives up, or goes on once it is let go', async () => {
  await answerCalls(layout, 'v', 'stage=never');
  const caller = new AbortController();
  const given = ask('NodeStageVolume', { volumeId: 'v' }, caller.signal);
  caller.abort();
  await expect(given).rejects.toMatchObject({ code: 1 });

  let answered = false;
  const held = ask('NodeStageVolume', { volumeId: 'v' }).then(() => (answered = true));
  expect(await ask('NodeUnstageVolume', { volumeId: 'v' })).toBe('NodeUnstageVolume');
  expect(answered).toBe(false);
  await letGo(layout);
  await letGo(layout, 'v');
  expect(await held).toBe(true);
});

test('late: the work is done so long after the first call, also where its caller gave up', async () => {
  await answerCalls(layout, 'v', 'publish=late:300ms');
  const beganMs = Date.now();
  const publish = (): Promise<unknown> => ask('ControllerPublishVolume', onNode);
  const first = ask('ControllerPublishVolume', onNode, AbortSignal.abort());
  await Promise.all([first, publish()]);
  const tookMs = Date.now() - beganMs;
  expect(tookMs).toBeGreaterThanOrEqual(299);
  const againMs = Date.now();
  await publish();
  expect(Date.now() - againMs).toBeLessThan(150);
  // What undoes it begins it anew.
  await ask(unpublish, onNode);
  const anewMs = Date.now();
  await publish();
  expect(Date.now() - anewMs).toBeGreaterThanOrEqual(299);
});

test('only while the node is gone', async () => {
  await answerCalls(layout, 'v', 'unpublish=NOT_FOUND@node-gone');
  expect(await ask(unpublish, onNode)).toBe(unpublish);
  gone = true;
  await expect(ask(unpublish, onNode)).rejects.toMatchObject({ code: 5 });
});

test('a machine is gone with its driver’s process, a Node and a CSINode with their objects', async () => {
  const asked: string[] = [];
  const isGone = absenceOn(layout, (path) => {
    asked.push(path);
    return Promise.resolve(path.includes('csinodes'));
  });
  expect(await isGone('machine-gone', 'a')).toBe(true);
  {
    await using _alive = await showAlive(layout, 'a');
    expect(await isGone('machine-gone', 'a')).toBe(false);
  }
  expect(await isGone('machine-gone', 'a')).toBe(true);
  expect(await isGone('node-gone', 'a')).toBe(true);
  expect(await isGone('csinode-gone', 'a')).toBe(false);
  expect(asked).toEqual(['/api/v1/nodes/a', '/apis/storage.k8s.io/v1/csinodes/a']);
});
