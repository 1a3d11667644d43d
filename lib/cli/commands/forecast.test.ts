/** What the model cannot play it does not foretell: it would play another scenario, and seal that. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseArguments } from '../command.ts';
import { forecastCommand } from './forecast.ts';

test.each([
  ['a provisioner', 'axes: { volume.provision: [static, dynamic] }', 'volume.provision'],
  [
    'a log of writes',
    'axes: { disk: [unfenced] }, include: [{ disk: { keepWrites: true } }]',
    'disk.keepWrites',
  ],
  ['an unknown gate', 'axes: { kubernetes.featureGates: [{ Breaker: true }] }', 'featureGates'],
])('a cell with %s is refused before anything is played', async (_, cells, place) => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-forecast-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, out] = [join(folder, 'a.yaml'), join(folder, 'forecast.json')];
  const base = 'base: { fault: node-crash, watch: { horizon: 1s } }';
  writeFileSync(file, `{ name: a, question: b, ${base}, ${cells} }`);
  let make: () => unknown = () => expect.fail('make was not asked for');
  parseArguments(
    forecastCommand((act) => (make = act)),
    ['make', file, '--out', out, '--runs', '20'],
  );
  await expect(Promise.resolve(make())).rejects.toMatchObject({
    code: 'NOT_ON_THIS_CLUSTER',
    message: expect.stringContaining(place) as string,
  });
  expect(existsSync(out)).toBe(false);
});
