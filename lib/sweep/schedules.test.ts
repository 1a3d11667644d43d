/** The committed schedules can be read, and the model still predicts of them what they say. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseScenario } from '../experiment/scenario.ts';
import { judge } from './judge.ts';
import { play } from './play.ts';
import { readSchedule } from './schedule-file.ts';

const folder = join(import.meta.dirname, '../../experiments/schedules');

test.each(readdirSync(folder))('%s comes out as predicted', (file) => {
  const { name, question, seed, predicted, scenario } = readSchedule(join(folder, file));
  expect(`${name}.yaml`).toBe(file);
  const { fault = 'none', ...fields } = scenario;
  const whole = parseScenario({ name, question, ...fields, fault, expected: predicted });
  expect(predicted).toContain(judge(play(whole, seed)).safety);
});
