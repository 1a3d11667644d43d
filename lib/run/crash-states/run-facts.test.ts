import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../../core/errors.ts';
import { neededOneWriter } from './explore.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-run-facts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const found = (ms: number): void =>
  writeFileSync(join(folder, 'verdict.json'), JSON.stringify({ exposure: { ms } }));

test('a run in which two nodes could write blames no loss of power', () => {
  found(1700);
  expect(() => neededOneWriter(folder)).toThrow(UsageError);
});

test('a run without exposure, or without a verdict yet, may be explored', () => {
  expect(() => neededOneWriter(folder)).not.toThrow();
  found(0);
  expect(() => neededOneWriter(folder)).not.toThrow();
});
