/** Bad schedule files: each is refused with its path and a hint, never accepted or crashed over. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { exitCode, UsageError } from '../errors.ts';
import { parseScenario } from '../experiment/scenario.ts';
import { parseYaml, type OnHint } from '../yaml-file.ts';
import { scheduleFile, scheduleText, readSchedule, type ScheduleFile } from './schedule-file.ts';

const parseSchedule = (text: string, name: string, onHint?: OnHint): ScheduleFile =>
  parseYaml(text, name, scheduleFile, onHint);
import { join } from 'node:path';
import { committedFiles } from '../../test/support/committed.ts';
import { judge } from './judge-schedule.ts';
import { play } from './play.ts';

const good = scheduleText({
  name: 'found-1',
  question: 'What becomes of it?',
  seed: 'a/1',
  predicted: ['lost'],
  scenario: parseScenario({
    ...{ name: 'x', question: 'q', expected: ['safe'] },
    ...{ fault: 'node-reboot', rebootAt: 'force-detach', remedy: 'force-delete' },
    ...{ remedyAt: 1500, horizonMs: 600_000 },
  }),
  comment: ['A prediction.'],
});

test('what a sweep writes is read again, times as people write them', () => {
  expect(good).toContain('watch:\n    horizon: 10m');
  expect(parseSchedule(good, 'good.yaml')).toEqual({
    ...{ name: 'found-1', question: 'What becomes of it?', seed: 'a/1', predicted: ['lost'] },
    scenario: {
      ...{ fault: 'node-reboot', rebootAt: 'force-detach', remedy: 'force-delete' },
      ...{ remedyAt: 1500, horizonMs: 600_000 },
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

test('fields that do not fit together are refused where they stand', () => {
  const other = good.replace('kind: node-reboot', 'kind: freeze');
  expect(refusal(other).message).toMatch(
    /bad\.yaml:10:15: scenario\.fault\.rebootAt: it goes only with fault node-reboot/,
  );
  const early = good.replace(
    'kind: force-delete\n    at: 1500ms',
    'kind: force-delete\n    at: pod-gone',
  );
  expect(refusal(early).message).toMatch(/bad\.yaml:13:9: scenario\.remedy\.at: what the remedy/);
});

test.each([
  ['{fault: network-partition, disk: fenced, disk.mode: unfenced}', 'disk.mode: no key has a dot'],
  ['{fault: freeze, timers: {grace: 9s}, graceMs: 9s}', 'graceMs: stands here twice: it is timers'],
  ['{fault: freeze, remedy: {at: 5s}}', 'remedy.at: it goes not with remedy none'],
  ['{fault: freeze, disk: {cutAfter: 10s}}', 'disk.cutAfter: it goes only with disk ack-early'],
  ['{fault: freeze, selfFence: {after: 20s}}', 'selfFence.after: it goes not with selfFence off'],
  [
    '{fault: freeze, remedy: {kind: drain, at: 20m}, watch: {horizon: 1m}}',
    'remedy.at: 20m is too late',
  ],
])('%s is refused where it stands', (scenario, why) => {
  const { message } = refusal(good.replace(/scenario:[^]*$/, `scenario: ${scenario}`));
  expect(message).toMatch(/bad\.yaml:7:[1-9]\d+: scenario\./);
  expect(message).toContain(`scenario.${why}`);
});

test('what a drawn schedule says to no effect is not written', () => {
  const scenario = parseScenario({
    ...{ name: 'x', question: 'q', expected: ['safe'], fault: 'freeze', remedyAt: 1500 },
    ...{ reboot: false, forceDetach: 'off', forceDetachAfterMs: 5000 },
  });
  const text = scheduleText({ ...parseSchedule(good, 'good.yaml'), scenario, comment: [] });
  expect(parseSchedule(text, 'drawn.yaml').scenario).toEqual({
    ...{ fault: 'freeze', forceDetach: 'off' },
  });
});

test('a schedule of the form before the nested one is read, with a hint', () => {
  const old = good.replace(
    /scenario:[^]*$/,
    'scenario: {fault: node-reboot, rebootAt: force-detach, remedy: force-delete, remedyAt: 1500, horizonMs: 10m}',
  );
  const hints: string[] = [];
  expect(parseSchedule(old, 'old.yaml', (line) => hints.push(line))).toEqual(
    parseSchedule(good, 'good.yaml', (line) => hints.push(line)),
  );
  expect(hints).toEqual([
    'old.yaml: the next version reads the nested form only: rebootAt is fault.rebootAt, ' +
      'remedyAt is remedy.at, horizonMs is watch.horizon',
  ]);
});

const root = join(import.meta.dirname, '../..');

test.each(committedFiles('experiments/schedules'))('%s comes out as predicted', (file) => {
  const { name, question, seed, predicted, scenario } = readSchedule(join(root, file));
  expect(`experiments/schedules/${name}.yaml`).toBe(file);
  const { fault = 'none', ...fields } = scenario;
  const whole = parseScenario({ name, question, ...fields, fault, expected: predicted });
  expect(predicted).toContain(judge(play(whole, seed)).safety);
});
