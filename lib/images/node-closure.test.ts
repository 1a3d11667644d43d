import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { stageDriver } from './node-closure.ts';
import { projectRoot } from '../checkout.ts';

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
