import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { currentOwner, encodeOwner } from '../../core/owner.ts';
import { labsOf, markLab, whyLabStays } from './labs.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-labs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What the engine says of a container that was started with these flags. */
const container = (Id: string, flags: readonly string[]): Parameters<typeof labsOf>[0][number] => {
  const pairs = flags.filter((flag) => flag !== '--label').map((flag) => flag.split(/=(.*)/s, 2));
  return { Id, Config: { Labels: Object.fromEntries(pairs) as Record<string, string> } };
};

const dead = encodeOwner({ ...currentOwner(), startTicks: '1' });

test('containers with the labels of one lab are one lab, others are none', () => {
  const folder = newFolder();
  const marked = { folder, loops: { first: 5100, count: 3 }, tools: 'tools:1' };
  const flags = markLab(marked);
  const found = labsOf([
    container('1', flags),
    container('2', flags),
    container('3', ['--label', 'forcedetach.cluster=main']),
    container(
      '4',
      flags.filter((flag) => !flag.startsWith('forcedetach.loops=')),
    ),
  ]);
  const owner = encodeOwner(currentOwner());
  expect(found).toEqual([{ ...marked, owner, containers: ['1', '2'] }]);
});

test('a lab is left over where its owner is dead, and its folder has that owner or is gone', () => {
  const folder = newFolder();
  const lab = { folder, loops: { first: 1, count: 1 }, tools: 'x', containers: ['1'] };
  markLab(lab);
  const alive = encodeOwner(currentOwner());
  expect(whyLabStays({ ...lab, owner: alive })).toBe('its owner is alive');
  expect(whyLabStays({ ...lab, owner: 'somebody' })).toBe('its owner is unknown');
  expect(whyLabStays({ ...lab, owner: dead })).toContain('has another owner');
  writeFileSync(join(folder, '.owner'), dead);
  expect(whyLabStays({ ...lab, owner: dead })).toBeUndefined();
  rmSync(folder, { recursive: true });
  expect(whyLabStays({ ...lab, owner: dead })).toBeUndefined();
});
