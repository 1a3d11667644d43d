/** Bad schedule files: each is refused with its path and a hint, never accepted or crashed over. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { exitCode, UsageError } from '../core/errors.ts';
import { parseScenario } from '../scenario/scenario.ts';
import { parseYaml, type OnHint } from '../core/data-file.ts';
import { scheduleFile, scheduleText, readSchedule, type ScheduleFile } from './findings.ts';

const parseSchedule = (text: string, name: string, onHint?: OnHint): ScheduleFile =>
  parseYaml(text, name, scheduleFile, onHint);
import { join } from 'node:path';
import { committedFiles } from '../../test/support/committed.ts';
import { judge } from './judge.ts';
import { play } from './play.ts';

const good = scheduleText({
  name: 'found-1',
  question: 'What becomes of it?',
  seed: 'a/1',
  predicted: ['lost'],
  scenario: parseScenario({
    name: 'x',
    question: 'q',
    expected: ['safe'],
    fault: { kind: 'node-reboot', rebootAt: 'force-detach' },
    remedy: { kind: 'force-delete', at: 1500 },
    watch: { horizon: 600_000 },
  }),
  comment: ['A prediction.'],
});

test('what a sweep writes is read again, times as people write them', () => {
  expect(good).toContain('watch:\n    horizon: 10m');
  expect(parseSchedule(good, 'good.yaml')).toEqual({
    ...{ name: 'found-1', question: 'What becomes of it?', seed: 'a/1', predicted: ['lost'] },
    scenario: {
      fault: { kind: 'node-reboot', rebootAt: 'force-detach' },
      remedy: { kind: 'force-delete', at: 1500 },
      watch: { horizon: 600_000 },
    },
  });
});

/** Throws where the text is accepted, or refused in any other way. */
function refusal(text: string): UsageError {
  try {
    parseSchedule(text, 'bad.yaml');
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error(`accepted:\n${text}`);
}

type Tree = Record<string, unknown> & { scenario: Record<string, unknown> };
const tree = (): Tree => parse(good) as Tree;
const fields = ['fault', 'remedy', 'remedyAt', 'rebootAt', 'horizonMs', 'disk', 'rate'];
const wrong = fc.constantFrom<unknown>(
  null,
  [],
  { no: 1 },
  -1,
  'no-such-thing',
  '5 parsecs',
  [1, 2],
);

/** Each gives a file that must be refused. */
const mutations: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('name', 'question', 'seed', 'predicted', 'scenario').map((key) => {
    const { [key]: _left, ...rest } = tree();
    return stringify(rest);
  }),
  fc.tuple(fc.constantFrom(...fields), wrong).map(([field, value]) => {
    const bad = tree();
    bad.scenario[field] = value;
    return stringify(bad);
  }),
  fc
    .tuple(fc.constantFrom('name', 'question', 'predicted', 'scenario'), wrong)
    .map(([key, value]) =>
      stringify({ ...tree(), [key]: key === 'question' && typeof value === 'string' ? '' : value }),
    )
    .filter((text) => !text.includes('name: no-such-thing')),
  fc.string({ minLength: 1 }).map((key) => stringify({ ...tree(), [`x${key}`]: 1 })),
  fc.string({ minLength: 1 }).map((key) => {
    const bad = tree();
    bad.scenario[`x${key}`] = 1;
    return stringify(bad);
  }),
  fc.nat(good.length - 20).map((at) => `${good.slice(0, at)}\n\t: [`),
  fc.constantFrom('', '[]', '"text"', 'a: *b', '--- 1\n--- 2'),
);

test('a mutated file is refused with its path and a hint, and ends with exit code 2', () => {
  fc.assert(
    fc.property(mutations, (text) => {
      const error = refusal(text);
      expect(error.code).toBe('SCHEDULE_INVALID');
      expect(error.exitCode).toBe(exitCode.usage);
      expect(error.message).toContain('bad.yaml');
      expect(error.hint).toContain('docs/');
    }),
    { numRuns: 300 },
  );
});

test('what a drawn schedule says to no effect is not written', () => {
  const scenario = parseScenario({
    name: 'x',
    question: 'q',
    expected: ['safe'],
    fault: { kind: 'freeze', reboot: false },
    remedy: { at: 1500 },
    timers: { forceDetach: 'off', forceDetachAfter: 5000 },
  });
  const text = scheduleText({ ...parseSchedule(good, 'good.yaml'), scenario, comment: [] });
  expect(parseSchedule(text, 'drawn.yaml').scenario).toEqual({
    ...{ fault: { kind: 'freeze' }, timers: { forceDetach: 'off' } },
  });
});

const root = join(import.meta.dirname, '../..');

test.each(committedFiles('experiments/schedules'))('%s comes out as predicted', (file) => {
  const { name, question, seed, predicted, scenario } = readSchedule(join(root, file));
  expect(`experiments/schedules/${name}.yaml`).toBe(file);
  const whole = parseScenario({ name, question, ...scenario, expected: predicted });
  expect(predicted).toContain(judge(play(whole, seed)).safety);
});
