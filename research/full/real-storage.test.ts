/** A row of the table of raw writers on real containers: NBD, whose array removes the export, and nobody revokes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';
import { ensureImages } from '../../lib/kind/images/ensure.ts';
import type { CellName } from '../real-storage/cells.ts';
import { StorageLab } from '../real-storage/lab.ts';
import { outcomeFrom, type Outcome } from '../real-storage/outcome.ts';
import { runTrial } from '../real-storage/trial.ts';

let lab: StorageLab;
beforeAll(async () => {
  const onProgress = (line: string): void => console.log(`  ${line}`);
  const beside = ['initiator'] as const;
  const request = { source: 'auto', kubernetes: kubernetesDefault, beside } as const;
  const { tools, array, initiator = '' } = await ensureImages({ ...request, onProgress });
  lab = await StorageLab.open({ tools, array, initiator });
});
afterAll(() => lab[Symbol.asyncDispose]());

const ask = async (revocation: string, cell: CellName): Promise<Outcome> =>
  outcomeFrom(await runTrial(lab, { row: { transport: 'nbd', revocation }, cell, repeat: 1 }));

test('a living node whose export is removed hangs, and is released when it is given back', async () => {
  const { revoked, givenBack, second, lost } = await ask('export', 'give-back');
  expect(revoked).toMatchObject({ at: 'hangs', acks: 0, landed: 0 });
  expect(givenBack).toMatchObject({ at: 'goes on', replayed: 1 });
  expect(second.acks).toBeGreaterThan(10);
  expect(lost).toEqual({ a: 0, b: 0 });
});

test('a node that was cut off and not revoked replays its queue over the next one’s', async () => {
  const { healed, second } = await ask('none', 'cut-10');
  expect(healed).toMatchObject({ at: 'goes on', error: null });
  expect(healed?.landed).toBeGreaterThan(10);
  expect(second.acks).toBeGreaterThan(10);
});

test('a node whose path the array cut gets an error, with a new initiator, too', async () => {
  const { revoked, reboot } = await ask('cut', 'reboot');
  expect(revoked).toMatchObject({ at: 'error', error: 'EIO', landed: 0 });
  expect(reboot?.watched).toMatchObject({ landed: 0, acks: 0 });
});
