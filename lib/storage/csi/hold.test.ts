/** A call that is held waits, another does not, and names that are no path are left alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CallNotes, holdCalls, letGo, whileHeld } from './grpc.ts';
import { layoutOf, type Layout } from './layout.ts';

function newLayout(): Layout {
  const root = mkdtempSync(join(tmpdir(), 'forcedetach-hold-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return layoutOf(root);
}

test('a held call answers once it is let go, and says how long it was held', async () => {
  const layout = newLayout();
  const logged: CallNotes = {};
  const around = whileHeld(layout, 'node', (_, work) => work(logged));
  const ask = (name: string, volumeId: string): Promise<unknown> =>
    around({ name, request: { volumeId } }, async () => name);
  await holdCalls(layout, { node: 'node', call: 'NodeStageVolume', volume: 'a' });

  let answered = false;
  const held = ask('NodeStageVolume', 'a').then(() => (answered = true));
  expect(await ask('NodeStageVolume', 'b')).toBe('NodeStageVolume');
  expect(await ask('NodeUnstageVolume', 'a')).toBe('NodeUnstageVolume');
  expect(await ask('NodeStageVolume', '../a')).toBe('NodeStageVolume');
  expect(answered).toBe(false);

  await letGo(layout);
  await letGo(layout);
  await held;
  expect(Number(logged['heldMs'])).toBeGreaterThan(0);
});
