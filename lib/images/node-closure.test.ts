import { mkdirSync, mkdtempSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { installedClosure, stageDriver } from './node-closure.ts';
import { projectRoot } from '../checkout.ts';

function install(root: string, path: string, version: string, needs: string[]): void {
  mkdirSync(join(root, path), { recursive: true });
  const dependencies = Object.fromEntries(needs.map((name) => [name, '*']));
  writeFileSync(join(root, path, 'package.json'), JSON.stringify({ version, dependencies }));
}

test('finds what is below, nested versions first, and ends on a circle', () => {
  const root = mkdtempSync(join(tmpdir(), 'forcedetach-closure-'));
  install(root, 'node_modules/top', '1.0.0', ['@scope/middle']);
  install(root, 'node_modules/@scope/middle', '2.0.0', ['leaf', 'top']);
  install(root, 'node_modules/@scope/middle/node_modules/leaf', '3.1.0', ['other']);
  install(root, 'node_modules/leaf', '3.0.0', []);
  install(root, 'node_modules/other', '4.0.0', []);
  install(root, 'node_modules/unrelated', '5.0.0', []);
  expect(installedClosure(root, ['top'])).toEqual([
    { path: 'node_modules/@scope/middle', version: '2.0.0' },
    { path: 'node_modules/@scope/middle/node_modules/leaf', version: '3.1.0' },
    { path: 'node_modules/other', version: '4.0.0' },
    { path: 'node_modules/top', version: '1.0.0' },
  ]);
});

/** Imports that are there at run time: those of types alone are gone by then. */
const imports = /^(?:import|export) (?!type\b)[^;]*?from '(\.[^']*)';|\bimport\('(\.[^']*)'\)/gms;

test('what is imported is staged', () => {
  const { files } = stageDriver(projectRoot);
  expect(files.length).toBeGreaterThan(20);
  const missing = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(imports)]
      .map(([, path, later]) => resolve(dirname(file), path ?? later ?? ''))
      .filter((path) => !files.includes(path))
      .map((path) => `${file} imports ${path}`),
  );
  expect(missing).toEqual([]);
});
