import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { slotsOf, runBatch, type BatchOptions } from './run-batch.ts';
import { exampleOutcome, examplePlan } from '../../test/support/example-batch.ts';
import { readResults, resultsFile, type RunOutcome, type Results } from './results.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-batch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Played {
  readonly results: Results;
  /** Trials in the order in which they began. */
  readonly ran: readonly string[];
  readonly said: readonly string[];
}

async function play(
  folder: string,
  answer: (trial: string, nth: number) => RunOutcome = () => exampleOutcome(),
  changes: Partial<BatchOptions> = {},
): Promise<Played> {
  const ran: string[] = [];
  const said: string[] = [];
  const results = await runBatch({
    plan: examplePlan(),
    folder,
    backend: 'sim',
    isModel: true,
    slots: [...slotsOf('one', 1), ...slotsOf('two', 1)],
    run: (runs) =>
      runs.map(async ({ trial: { id }, folder }) => {
        ran.push(id);
        mkdirSync(folder);
        await Promise.resolve();
        return answer(id, ran.filter((each) => each === id).length);
      }),
    clock: { wallMs: () => Date.UTC(2026, 0, 1), sleep: () => Promise.resolve() },
    onProgress: (line) => void said.push(line),
    signal: new AbortController().signal,
    ...changes,
  });
  return { results, ran, said };
}

const ids = (): string[] => examplePlan().trials.map(({ id }) => id);
const text = (folder: string): string => readFileSync(join(folder, resultsFile), 'utf8');

test('a batch killed at any byte goes on without losing what is done', async () => {
  const whole = newFolder();
  await play(whole);
  const written = text(whole);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: written.length }), async (bytes) => {
      const folder = newFolder();
      writeFileSync(join(folder, resultsFile), written.slice(0, bytes));
      mkdirSync(join(folder, 'cells/left-by-the-kill'), { recursive: true });
      const done = written.slice(0, bytes).split('\n').length - 2;
      const { ran, results } = await play(folder);
      expect(ran).toHaveLength(ids().length - Math.max(0, done));
      expect(results.attempts.map(({ trial }) => trial).toSorted()).toEqual(ids().toSorted());
      expect(readResults(folder)).toEqual(results);
      expect(readdirSync(join(folder, 'cells'))).not.toContain('left-by-the-kill');
    }),
    { numRuns: 25 },
  );
});

test('an interrupted trial leaves no line and is made anew', async () => {
  const folder = newFolder();
  const controller = new AbortController();
  let count = 0;
  const stopAtThird = (): RunOutcome => {
    count += 1;
    if (count === 3) controller.abort(new Error('stop'));
    return exampleOutcome({ verdict: 'inconclusive' });
  };
  const options = { signal: controller.signal, slots: slotsOf('one', 1) };
  await expect(play(folder, stopAtThird, options)).rejects.toThrow('stop');
  expect(readResults(folder)?.attempts).toHaveLength(2);
  const { ran } = await play(folder);
  expect(ran).toEqual(ids().slice(2));
});

test('one failure leaves the rest alone, and gets another try at the next start', async () => {
  const folder = newFolder();
  const [, broken = ''] = ids();
  const fail = (id: string): RunOutcome => {
    if (id === broken) throw new Error('the cluster fell over');
    return exampleOutcome();
  };
  const first = await play(folder, fail);
  expect(first.ran).toEqual(ids());
  const failed = first.results.attempts.filter(({ outcome }) => outcome === undefined);
  expect(failed).toMatchObject([{ trial: broken, error: 'the cluster fell over' }]);
  const second = await play(folder);
  expect(second.ran).toEqual([broken]);
  expect(second.results.attempts.at(-1)).toMatchObject({ trial: broken, attempt: 2 });
});

test('a starved trial is made again, alone, a bounded number of times; each attempt is kept', async () => {
  const folder = newFolder();
  const [first = '', second = ''] = ids();
  const starved = exampleOutcome({ verdict: 'inconclusive', starved: true });
  const { results, ran } = await play(folder, (id, nth) => {
    if (id === first) return starved;
    return id === second && nth === 1 ? starved : exampleOutcome();
  });
  expect(ran.slice(ids().length)).toEqual([first, second, first]);
  const attempts = results.attempts.filter(({ trial }) => trial === first);
  expect(attempts.map(({ attempt, alone }) => [attempt, alone])).toEqual([
    [1, false],
    [2, true],
    [3, true],
  ]);
  expect(new Set(attempts.map((each) => each.folder)).size).toBe(3);
  expect((await play(folder)).ran).toEqual([]);
});

test('damage that a starved run proved stands', async () => {
  const lost = exampleOutcome({ verdict: 'lost', starved: true });
  const { ran } = await play(newFolder(), () => lost);
  expect(ran).toEqual(ids());
});

test('trials under one fault event name it, and one that fails leaves the others alone', async () => {
  const plan = examplePlan({ disks: 3 });
  const fail = (id: string): RunOutcome => {
    if (id === '02-none-fenced.1') throw new Error('its volume is gone');
    return exampleOutcome();
  };
  const { results } = await play(newFolder(), fail, { plan, volumes: 9 });
  expect(results.attempts).toHaveLength(plan.trials.length);
  const cells = results.attempts.filter(({ trial }) => /^0\d-.*\.1$/.test(trial));
  expect(cells).toHaveLength(6);
  expect(new Set(cells.map(({ event }) => event)).size).toBe(1);
  const without = results.attempts.filter(({ outcome }) => outcome === undefined);
  expect(without.map(({ trial }) => trial)).toEqual(['02-none-fenced.1']);
});

test('a result that was altered is refused, one of before is not held against a seal', async () => {
  const folder = newFolder();
  const { results } = await play(folder);
  const path = join(folder, resultsFile);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"acked":1000', '"acked":1001'));
  await expect(play(folder)).rejects.toMatchObject({ code: 'RESULTS_BROKEN' });
  writeFileSync(path, text.replaceAll(/,"seal":"[0-9a-f]{64}"/g, ''));
  expect((await play(folder)).results).toEqual(results);
});

test('another plan does not go on in this folder, nor a file that is no batch', async () => {
  const folder = newFolder();
  await play(folder);
  const other = { plan: examplePlan({ seed: 'other' }) };
  await expect(play(folder, undefined, other)).rejects.toMatchObject({ code: 'BATCH_CHANGED' });
  await expect(play(folder, undefined, { backend: 'kind' })).rejects.toThrow(
    /other backend \(sim\)/,
  );
  writeFileSync(join(folder, resultsFile), 'hello\n');
  await expect(play(folder)).rejects.toMatchObject({ code: 'RESULTS_BROKEN' });
});
