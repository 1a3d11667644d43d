/**
 * `npm run golden -- --write FILE | --compare FILE`: verdicts of drawn scenarios that the model plays, and of every
 * committed history that is judged again, a line each. Before and after a change that must not change
 * any: `--compare` plays what the file's lines say, prints each difference, and exits with 1 where there is
 * one. FILE is gzipped JSON Lines; the first names the commit that it was taken at.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { ForcedetachError } from '../../lib/core/errors.ts';
import { expectationFor } from '../../lib/batch/measurements.ts';
import { askedScenario, safetyLevels, type Scenario } from '../../lib/scenario/scenario.ts';
import { settingsOf, writtenOf } from '../../lib/scenario/written.ts';
import {
  goesWith,
  settingsFrom,
  type SettableName,
  valueAt,
  type WrittenScenario,
} from '../../lib/scenario/fields.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { theModel } from '../../lib/cli/library/backend.ts';
import { refuseUnfit, judgeHistory, type AnyVerdict } from '../../lib/cli/library/run-plan.ts';
import { changedFields } from '../../lib/sweep/schedule.ts';
import { answerTasks, WorkerPool } from '../../lib/core/program.ts';
import { anyScenario } from '../property/any-scenario.ts';
import { playOnce } from '../property/play-once.ts';
import { committedFiles, committedWith, unpackedRun } from '../support/committed.ts';
import { mysql } from '../../lib/mysql/database.ts';

const draws = { count: 500, seed: 20_261_127 } as const;

/** A scenario as people write it, or a history: a folder, or packed. */
type Case =
  | { readonly scenario: WrittenScenario; readonly seed: string }
  | { readonly history: string };

/** What must stay: no sentence, no number that a rounding changes. */
type Outcome = Readonly<Record<string, unknown>>;

type Golden = Case & { readonly outcome: Outcome };

interface Head {
  readonly commit: string;
  /** Draws that the model can't play. */
  readonly refused: number;
}

const outcomeOf = (verdict: AnyVerdict): Outcome => ({
  verdict: verdict.verdict,
  safety: verdict.safety,
  asExpected: verdict.asExpected,
  open: 'open' in verdict && verdict.open === true,
  recovered: verdict.availability.recovered,
  downtimeS: Math.round((verdict.availability.downtimeMs ?? -1000) / 1000),
  gaps: verdict.incompleteBecause.length,
  findings: [...new Set(verdict.findings.map(({ code }) => code))].toSorted().join(' '),
});

const folderOf = (history: string): string =>
  history.endsWith('.tar.zst') ? unpackedRun(history) : history;

async function outcome(one: Case): Promise<Outcome> {
  try {
    if ('history' in one)
      return outcomeOf((await judgeHistory(openHistory(folderOf(one.history)), mysql)).verdict);
    const { verdict } = await playOnce(scenarioOf(one.scenario), one.seed);
    return outcomeOf(verdict);
  } catch (error) {
    if (error instanceof ForcedetachError) return { error: error.code };
    throw error;
  }
}

/** With what is expected of it, as an experiment has it. Throws UsageError. */
function scenarioOf(written: WrittenScenario): Scenario {
  const about = { name: 'golden', question: '?', expected: [...safetyLevels] };
  const scenario = askedScenario(
    settingsOf(written, () => undefined),
    about,
  );
  refuseUnfit(scenario, theModel('golden verdicts'));
  return { ...scenario, ...expectationFor(scenario) };
}

function writtenForm(scenario: Scenario): WrittenScenario {
  const fields = changedFields(scenario).filter((field) => goesWith(field, scenario));
  const names = [...new Set<SettableName>(['fault.kind', ...fields])];
  return writtenOf(settingsFrom(names.map((name) => [name, valueAt(scenario, name)])));
}

function drawn(): { readonly cases: readonly Case[]; readonly refused: number } {
  const cases: Case[] = [];
  let refused = 0;
  for (const scenario of fc.sample(anyScenario, { numRuns: 2 * draws.count, seed: draws.seed })) {
    if (cases.length === draws.count) break;
    const written = writtenForm(scenario);
    try {
      scenarioOf(written);
      cases.push({ scenario: written, seed: String(cases.length) });
    } catch (error) {
      if (!(error instanceof ForcedetachError)) throw error;
      refused += 1;
    }
  }
  return { cases, refused };
}

async function played(cases: readonly Case[]): Promise<Golden[]> {
  await using pool = new WorkerPool<Case, Outcome>(new URL(import.meta.url), 2);
  let ended = 0;
  return await Promise.all(
    cases.map(async (one) => {
      const golden = { ...one, outcome: await pool.run(one) };
      ended += 1;
      if (ended % 100 === 0) console.error(`${ended} of ${cases.length}`);
      return golden;
    }),
  );
}

async function write(file: string): Promise<void> {
  const { cases, refused } = drawn();
  const samples = committedWith('history/run.hist', 'reports/samples');
  const corpus = committedFiles('reports/corpus');
  const histories = [...samples, ...corpus].map((history) => ({ history }));
  const git = (...words: readonly string[]): string =>
    execFileSync('git', words, { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', 'lib') === '' ? '' : '-changed';
  const head: Head = { commit: `${git('rev-parse', 'HEAD')}${changed}`, refused };
  const lines = [head, ...(await played([...cases, ...histories]))];
  writeFileSync(file, gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
  console.log(`${cases.length} scenarios (${refused} refused), ${histories.length} histories`);
}

async function compare(file: string): Promise<void> {
  const [head = '', ...lines] = gunzipSync(readFileSync(file)).toString().trim().split('\n');
  const golden = lines.map((line) => JSON.parse(line) as Golden);
  const now = await played(golden);
  let differences = 0;
  for (const [index, { outcome: was, ...one }] of golden.entries()) {
    const is = now[index]?.outcome ?? {};
    const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    const changed = keys.filter((key) => was[key] !== is[key]);
    if (changed.length === 0) continue;
    differences += 1;
    const what = changed.map((key) => `${key} ${String(was[key])} -> ${String(is[key])}`);
    console.log(`${JSON.stringify(one)}\n  ${what.join('; ')}`);
  }
  console.log(
    `${golden.length} cases, ${differences} differ from ${(JSON.parse(head) as Head).commit}`,
  );
  process.exitCode = differences === 0 && golden.length > 0 ? 0 : 1;
}

if (isMainThread) {
  const options = { write: { type: 'string' }, compare: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  if (values.write !== undefined) await write(values.write);
  else if (values.compare !== undefined) await compare(values.compare);
  else {
    console.error('npm run golden -- --write FILE | --compare FILE');
    process.exitCode = 2;
  }
} else {
  answerTasks(outcome);
}
