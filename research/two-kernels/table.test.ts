import { expect, test } from 'vitest';
import { linesOf } from '../../lib/measurements/store.ts';
import { resultSchema, type ImageResult, type Result } from './result.ts';
import { agreement, comparison, outcomesInWords } from './table.ts';

const [sample] = linesOf(resultSchema);
if (sample?.outcome.images[0] === undefined) throw new TypeError('the store has no image');

/** That of a crash that took nothing, with what a test says of it. */
const exampleImage = (changed: Partial<ImageResult> = {}): ImageResult => ({
  ...(sample.outcome.images[0] as ImageResult),
  ...{ safety: 'safe', victim: { acked: 100, lost: 0 }, successor: { acked: 80, lost: 0 } },
  ...changed,
});

const mark = (step: string, MiB: number): Result['outcome']['marks'][number] => ({
  ...{ step, atMs: 30_000, acked: { victim: 100, successor: 80 } },
  bytesWritten: { victim: MiB * 2 ** 20, successor: 8192 },
});

const exampleResult = (
  outcome: Partial<Result['outcome']> = {},
  host: Result['scenario']['host'] = 'loops',
): Result => ({
  ...sample,
  scenario: { ...sample.scenario, case: 'crash', host, filesystem: 'ext4' },
  outcome: {
    ...sample.outcome,
    ...{ acked: { victim: 100, successor: 80 }, images: [exampleImage()] },
    ...{ takeover: { ...sample.outcome.takeover, startMs: 2_000, ready: true }, cpuPressure: 0.5 },
    marks: [mark('successor takes over', 1), mark('second image', 3)],
    ...outcome,
  },
});

const lost: Partial<ImageResult> = { safety: 'lost', successor: { acked: 80, lost: 80 } };

test('outcomes are counted from the worst on, and say how many nobody would have noticed', () => {
  const images = [
    exampleImage(),
    exampleImage(lost),
    exampleImage({ safety: 'corrupt', loud: true }),
    exampleImage(lost),
  ];
  expect(outcomesInWords(images)).toBe('corrupt 1, lost 2, safe 1 (2 silent)');
});

test('a safe image without all its evidence is inconclusive', () => {
  expect(outcomesInWords([exampleImage({ complete: false })])).toBe('safe 1 (1 inconclusive)');
  expect(outcomesInWords([exampleImage({ ...lost, complete: false, loud: true })])).toBe('lost 1');
  expect(outcomesInWords([])).toBe('–');
});

test('hosts agree where they saw the same, in both images', () => {
  const seen = (...images: readonly Partial<ImageResult>[]) =>
    images.map((each) => exampleResult({ images: [exampleImage(each)] }));
  expect(agreement('outcome', seen(lost, lost), seen(lost))).toBe('yes');
  expect(agreement('outcome', seen(lost, {}), seen(lost))).toBe('partly');
  expect(agreement('outcome', seen({}), seen(lost))).toBe('**no**');
  expect(agreement('outcome', seen({}), [])).toBe('–');
  // Nothing found is not nothing there.
  expect(agreement('outcome', seen({}), seen({ complete: false }))).toBe('–');
  expect(agreement('outcome', seen(lost), seen(lost, { complete: false }))).toBe('yes');
  const first = exampleImage({ image: 'first', ...lost });
  const loops = [exampleResult({ images: [first, exampleImage()] })];
  const vms = [exampleResult({ images: [{ ...first, safety: 'safe' }, exampleImage()] })];
  expect(agreement('outcome', loops, vms)).toBe('**no**');
  const corrupt = { safety: 'corrupt' } as const;
  expect(agreement('outcome', seen(lost), seen(corrupt))).toBe('**no**');
  expect(agreement('damage', seen(lost), seen(corrupt))).toBe('yes');
  expect(agreement('damage', seen(lost), seen({}))).toBe('**no**');
});

test('the tables have a line for each case and each host that ran', () => {
  const vms = { acked: { victim: 90, successor: 70 } } as const;
  const lines = comparison([
    exampleResult(),
    exampleResult({ images: [exampleImage(lost)], acked: { victim: 120, successor: 80 } }),
    exampleResult(vms, 'vms'),
  ]).split('\n');
  expect(lines.filter((line) => line.startsWith('| `crash`'))).toEqual([
    '| `crash` | victim loses power | ext4 | – | – | – | lost 1, safe 1 (1 silent) | – | safe 1 | outcome | partly | – |',
    '| `crash` | ext4 | loops | 2 of 2 | 2.0 | 100–120 / 80 | – | 0, 0 / 0, all 80 | – / 0 | 2.0 | 50 |',
    '| `crash` | ext4 | VMs | 1 of 1 | 2.0 | 90 / 70 | – | 0 / 0 | – / 0 | 2.0 | 50 |',
  ]);
});
