/**
 * What action.yml and .github/workflows/measure.yml run in anybody's pipeline, and anybody may here:
 * `run` plays a scenario, or one shard of a matrix; `judge` joins the shards, shows the summary, and
 * fails on the outcomes that shall fail the job; `shards` counts them for a job's strategy.
 *
 *   FORCEDETACH_MATRIX=experiments/matrices/short.yaml node scripts/ci.ts run
 *   node scripts/ci.ts judge
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { $ } from '../lib/engine/shell.ts';
import { z } from 'zod';
import { outcomes, settingsSchema, type Outcome, type Settings } from './ci-settings.ts';

/** As those of an experiment. */
const codes = { expected: 0, unexpected: 1, inconclusive: 3, open: 5 } as const;
const usage = 2;
const infrastructure = 4;

const shown = $({ cwd: join(import.meta.dirname, '..'), nothrow: true, stdio: 'inherit' });
const folderOf = (given: Settings): string =>
  resolve(given.GITHUB_WORKSPACE, given.FORCEDETACH_FOLDER);
const shardNumber = ({ FORCEDETACH_SHARD }: Settings): number => Number.parseInt(FORCEDETACH_SHARD);
const numbersOf = ({ FORCEDETACH_SHARDS }: Settings): number[] =>
  Array.from({ length: FORCEDETACH_SHARDS }, (_, index) => index + 1);
const shardFolder = (given: Settings, number: number): string =>
  join(folderOf(given), `shard-${number}`);

/** What a run or a batch says of itself, where it came so far. */
const filesOf = (folder: string): string[] =>
  ['batch.json', 'verdict.json']
    .map((name) => join(folder, name))
    .filter((file) => existsSync(file));

const tasks = new Map([
  ['run', run],
  ['judge', judge],
  ['shards', shards],
]);
const task = tasks.get(process.argv[2] ?? '');
const settings = settingsSchema.safeParse(process.env);
if (task === undefined) process.exitCode = refuse('usage: node scripts/ci.ts run|judge|shards');
else if (!settings.success) process.exitCode = refuse(z.prettifyError(settings.error));
else process.exitCode = await task(settings.data);

function refuse(why: string): number {
  process.stderr.write(`${why}\n`);
  return usage;
}

/** Fails only where nothing was left to judge. */
async function run(given: Settings): Promise<number> {
  const { FORCEDETACH_SCENARIO: scenario, FORCEDETACH_MATRIX: matrix } = given;
  if ((scenario === '') === (matrix === '')) return refuse('give a scenario or a matrix: one file');
  const out = shardFolder(given, shardNumber(given));
  const words = [resolve(given.GITHUB_WORKSPACE, scenario || matrix), '--out', out];
  words.push(...given.FORCEDETACH_FLAGS.split(/\s+/).filter((word) => word !== ''));
  if (given.FORCEDETACH_SEED !== '') words.push('--seed', given.FORCEDETACH_SEED);
  if (matrix !== '') words.push('--shard', given.FORCEDETACH_SHARD, '--reports', 'unexpected');
  const script = `experiments/${matrix === '' ? 'replay' : 'matrix'}.mjs`;
  const { exitCode } = await shown`node_modules/.bin/zx ${script} ${words}`;
  return filesOf(out).length > 0 ? 0 : (exitCode ?? infrastructure);
}

async function judge(given: Settings): Promise<number> {
  const numbers = given.FORCEDETACH_SHARDS === 1 ? [shardNumber(given)] : numbersOf(given);
  const there = numbers
    .map((number) => shardFolder(given, number))
    .filter((each) => filesOf(each).length > 0);
  const batches = there.filter((each) => existsSync(join(each, 'batch.json')));
  const folder = batches.length > 0 ? join(folderOf(given), 'batch') : (there[0] ?? '');
  if (batches.length > 0)
    await shown`node_modules/.bin/zx experiments/merge-batches.mjs ${folder} ${batches}`;
  const missing = numbers.length - there.length;
  const lines = missing === 0 ? [] : [`${missing} of ${numbers.length} shards left nothing.`];
  const [file] = filesOf(folder);
  if (file !== undefined) lines.push(readFileSync(join(folder, 'summary.md'), 'utf8'));
  append(given.GITHUB_STEP_SUMMARY, [`## ${given.FORCEDETACH_NAME}`, ...lines].join('\n\n'));
  if (file === undefined) return infrastructure;
  const { verdict, outcome } = outcomeIn(file);
  append(
    given.GITHUB_OUTPUT,
    `verdict=${verdict}\noutcome=${outcome}\nreport=${relative(given.GITHUB_WORKSPACE, join(folder, 'report.html'))}`,
  );
  const came: Outcome[] = missing === 0 ? [outcome] : [outcome, 'inconclusive'];
  const failing = came.find((each) => given.FORCEDETACH_FAIL_ON.includes(each));
  return failing === undefined ? codes.expected : codes[failing];
}

/** A run's word is about the data; a batch's says whether its cells came as expected. */
function outcomeIn(file: string): { readonly verdict: string; readonly outcome: Outcome } {
  const found = z
    .object({
      verdict: z.string().regex(/^[a-z]+$/),
      asExpected: z.boolean().optional(),
      open: z.boolean().optional(),
    })
    .parse(JSON.parse(readFileSync(file, 'utf8')));
  const { verdict, asExpected, open } = found;
  if (file.endsWith('batch.json')) return { verdict, outcome: z.enum(outcomes).parse(verdict) };
  if (asExpected === true) return { verdict, outcome: 'expected' };
  if (open === true) return { verdict, outcome: 'open' };
  return { verdict, outcome: verdict === 'inconclusive' ? 'inconclusive' : 'unexpected' };
}

async function shards(given: Settings): Promise<number> {
  append(given.GITHUB_OUTPUT, `shards=${JSON.stringify(numbersOf(given))}`);
  return 0;
}

/** On a machine that is no pipeline's, to the terminal. */
function append(file: string | undefined, text: string): void {
  if (file === undefined) process.stdout.write(`${text}\n`);
  else appendFileSync(file, `${text}\n`);
}
