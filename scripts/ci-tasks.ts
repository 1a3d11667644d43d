/**
 * The steps of action.yml and .github/workflows/measure.yml, for any pipeline: `run` plays a scenario
 * or one shard of a matrix; `judge` joins the shards that this job ran, shows the summary, and fails
 * on the results that shall fail the job; `shards` counts them for a job's strategy.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { quote } from 'zx';
import { z } from 'zod';
import { readBatch } from '../lib/cli/commands/batch.ts';
import { exitCodeAfter } from '../lib/cli/command.ts';
import { exitCodeUnder, outcomes, verdictsIn, type Outcome } from '../lib/cli/fail-on.ts';
import { $ } from '../lib/kind/engine/shell.ts';
import { exitCode, UsageError, type ExitCode } from '../lib/core/errors.ts';
import {
  readVerdict,
  exitCodeOf,
  verdictSchema,
  type VerdictWord,
} from '../lib/judge/verdict/verdict.ts';
import { batchExitCode } from '../lib/batch/summarize.ts';
import {
  dropMark,
  endMark,
  folderOf,
  shardFolder,
  shardNumber,
  startMark,
  troubleWith,
} from './ci-mark.ts';
import { placeSchema, settingsSchema, type Settings } from './ci-settings.ts';

const shown = $({ cwd: join(import.meta.dirname, '..'), nothrow: true, stdio: 'inherit' });
function badSetting(why: string): UsageError {
  return new UsageError('BAD_SETTING', why, { hint: 'docs/how-to/in-your-ci.md has all settings' });
}

/** Fails only where this run left nothing to judge. */
async function run(given: Settings): Promise<ExitCode> {
  const { FORCEDETACH_SCENARIO: scenario, FORCEDETACH_MATRIX: matrix } = given;
  if ((scenario === '') === (matrix === '')) {
    throw badSetting('give FORCEDETACH_SCENARIO or FORCEDETACH_MATRIX: one file');
  }
  const out = shardFolder(given, shardNumber(given));
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new UsageError('OUT_NOT_EMPTY', `${out} has the output of an earlier run`, {
      hint: 'remove it, or give another folder: FORCEDETACH_FOLDER',
      command: `rm -r ${quote(out)}`,
    });
  }
  const words = [resolve(given.GITHUB_WORKSPACE, scenario || matrix), '--out', out];
  words.push(...given.FORCEDETACH_FLAGS.split(/\s+/).filter((word) => word !== ''));
  if (given.FORCEDETACH_SEED !== '') words.push('--seed', given.FORCEDETACH_SEED);
  if (matrix !== '') words.push('--shard', given.FORCEDETACH_SHARD, '--reports', 'unexpected');
  const mark = startMark(given);
  const code = await play(
    [`experiments/${matrix === '' ? 'replay' : 'matrix'}.mjs`, ...words],
    out,
  );
  return endMark(given, mark, code) ? exitCode.expected : code || exitCode.infrastructure;
}

/** As root where sudo asks for no password: a measurement needs it. What root wrote is given back. */
async function play(words: readonly string[], out: string): Promise<ExitCode> {
  const isModel = /(^| )--cluster[ =]sim( |$)/.test(words.join(' '));
  const mayBecomeRoot =
    process.getuid?.() !== 0 &&
    !isModel &&
    (await $({ nothrow: true, quiet: true })`sudo -n true`).exitCode === 0;
  // Root's own home and no cache: neither the user's home nor the checkout may get files of root.
  const env = [
    '-u',
    'XDG_STATE_HOME',
    'NODE_DISABLE_COMPILE_CACHE=1',
    `PATH=${process.env['PATH']}`,
  ];
  const asRoot = mayBecomeRoot ? ['sudo', '-n', '-H', '--preserve-env', 'env', ...env] : [];
  const ended = await shown`${[...asRoot, process.execPath, ...words]}`;
  if (mayBecomeRoot && existsSync(out)) {
    await shown`sudo -n chown -R ${`${process.getuid?.()}:${process.getgid?.()}`} ${out}`;
  }
  return (ended.exitCode ?? exitCode.infrastructure) as ExitCode;
}

interface Found {
  /** A run's word is about the data; a batch's says whether its cells came as expected. */
  readonly verdict: string;
  readonly sentence: string;
  /** Without `fail-on`. */
  readonly code: ExitCode;
  readonly verdicts: readonly VerdictWord[];
}

async function judge(given: Settings): Promise<ExitCode> {
  const numbers = given.FORCEDETACH_SHARDS === 1 ? [shardNumber(given)] : numbersOf(given);
  const troubles = numbers.flatMap((number) => {
    const trouble = troubleWith(given, number);
    return trouble === undefined ? [] : [{ number, line: `shard ${number}: ${trouble}` }];
  });
  const good = numbers.filter((number) => troubles.every((each) => each.number !== number));
  const lines = troubles.map(({ line }) => line);
  const folder = await wholeOf(given, good);
  if (good.length > 0 && folder === undefined) lines.push('the shards do not fit together');
  const summary = folder === undefined ? [] : [summaryIn(folder)];
  const heading = `## ${given.FORCEDETACH_NAME}`;
  append(given.GITHUB_STEP_SUMMARY, [heading, ...lines, ...summary].join('\n\n'));
  if (folder === undefined) {
    annotate(given, 'error', 'nothing to judge', lines.join('; '));
    return exitCode.infrastructure;
  }
  return tell(given, folder, lines);
}

/** The verdict as the step's outputs, an annotation and the exit code. */
function tell(given: Settings, folder: string, troubles: readonly string[]): ExitCode {
  const found = foundIn(folder);
  const came = outcomes.find((word) => exitCode[word] === found.code) ?? 'inconclusive';
  const outcome: Outcome = came === 'expected' && troubles.length > 0 ? 'inconclusive' : came;
  const verdict = existsSync(join(folder, 'batch.json')) ? outcome : found.verdict;
  const report = relative(given.GITHUB_WORKSPACE, join(folder, 'report.html'));
  append(given.GITHUB_OUTPUT, `verdict=${verdict}\noutcome=${outcome}\nreport=${report}`);
  const code = exitCodeUnder(given.FORCEDETACH_FAIL_ON, found.code, found.verdicts);
  const isError = troubles.length > 0 && code !== exitCode.unexpected;
  const ended = isError ? exitCode.infrastructure : code;
  if (ended !== exitCode.expected || outcome !== 'expected') {
    const level = ended === exitCode.expected ? 'warning' : 'error';
    annotate(given, level, verdict, [found.sentence, ...troubles].join('; '));
  }
  return ended;
}

/** The folder with the verdict of these shards; undefined where there is none. */
async function wholeOf(given: Settings, good: readonly number[]): Promise<string | undefined> {
  const [first, ...others] = good.map((number) => shardFolder(given, number));
  if (first === undefined || others.length === 0) return first;
  const batch = join(folderOf(given), 'batch');
  // What an earlier `judge` of these shards merged.
  rmSync(batch, { recursive: true, force: true });
  await shown`${process.execPath} bin/forcedetach.mjs merge-batches ${batch} ${[first, ...others]}`;
  return existsSync(join(batch, 'batch.json')) ? batch : undefined;
}

const foundSchema = verdictSchema.pick({
  ...{ verdict: true, sentence: true, asExpected: true, open: true },
});

function foundIn(folder: string): Found {
  if (existsSync(join(folder, 'batch.json'))) {
    const batch = readBatch(folder);
    const { verdict, sentence } = batch;
    return { verdict, sentence, code: batchExitCode(batch), verdicts: verdictsIn(batch) };
  }
  const found = readVerdict(folder, foundSchema);
  if (found === undefined) throw new Error(`${folder} has neither batch.json nor verdict.json`);
  return { ...found, code: exitCodeOf(found), verdicts: [found.verdict] };
}

/** Without its pictures: a job's page has no files beside it. */
const summaryIn = (folder: string): string =>
  readFileSync(join(folder, 'summary.md'), 'utf8').replaceAll(/^!\[.*\]\(.*\)\n+/gm, '');

const numbersOf = ({ FORCEDETACH_SHARDS }: Settings): number[] =>
  Array.from({ length: FORCEDETACH_SHARDS }, (_, index) => index + 1);

async function shards(given: Settings): Promise<ExitCode> {
  const job = randomUUID();
  append(given.GITHUB_OUTPUT, `shards=${JSON.stringify(numbersOf(given))}\njob=${job}`);
  return exitCode.expected;
}

/** On the page of the change on GitHub; elsewhere a line on stderr. */
function annotate(given: Settings, level: 'error' | 'warning', word: string, text: string): void {
  const title = `${given.FORCEDETACH_NAME}: ${word.toUpperCase()}`;
  if (given.GITHUB_ACTIONS !== 'true') {
    process.stderr.write(`${level}: ${title}: ${text}\n`);
    return;
  }
  const data = (part: string): string =>
    part.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = data(title).replaceAll(':', '%3A').replaceAll(',', '%2C');
  process.stdout.write(`::${level} title=${property}::${data(text)}\n`);
}

/** To the terminal where this is no pipeline. */
function append(file: string | undefined, text: string): void {
  if (file === undefined) process.stdout.write(`${text}\n`);
  else appendFileSync(file, `${text}\n`);
}

const tasks = new Map([
  ['run', run],
  ['judge', judge],
  ['shards', shards],
]);

export const runTask = (name: string, env: NodeJS.ProcessEnv): Promise<ExitCode> =>
  exitCodeAfter(async () => {
    const task = tasks.get(name);
    if (task === undefined) {
      throw new UsageError('BAD_TASK', `there is no task \`${name}\``, {
        hint: `give one of ${[...tasks.keys()].join(', ')}`,
        command: 'npx node scripts/ci.ts run',
      });
    }
    const place = placeSchema.safeParse(env);
    if (task === run && place.success) dropMark(place.data);
    const settings = settingsSchema.safeParse(env);
    if (settings.success) return task(settings.data);
    throw badSetting(z.prettifyError(settings.error));
  });
