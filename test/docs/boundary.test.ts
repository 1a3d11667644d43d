/** docs/results/boundary.md has what the store has of runs of the schedules; `vitest -u` writes it. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { faultKinds, endsMachine } from '../../lib/scenario/faults/index.ts';
import { readRuns, scenarioOfLine, type RunLine, gradeOf } from '../../lib/batch/measurements.ts';
import { readSchedule } from '../../lib/sweep/findings.ts';
import { committedFiles } from '../support/committed.ts';

const page = 'docs/results/boundary.md';
const schedules = 'experiments/schedules';
const runs = 'reports/boundary';

/** One was a sample. */
const folderOf = (name: string): string =>
  name === 'no-grace-period-nobody-acts'
    ? 'reports/samples/partition-no-grace-period'
    : join(runs, name);

const named = committedFiles('experiments/schedules').map((file) => basename(file, '.yaml'));
const measured = new Map(readRuns().map((line) => [line.source, line]));

/** A live victim, no fence and a second mount: damage; else none. */
function ruleOfThumb(line: RunLine): boolean {
  const { fault, disk } = scenarioOfLine(line);
  const isLive = !faultKinds.some((kind) => kind === fault.kind && endsMachine(kind));
  return isLive && disk.mode === 'unfenced' && line.outcome.secondMountS !== null;
}

const mount = (seconds: number | null): string =>
  seconds === null ? 'none' : `${seconds.toFixed(1)} s`;

function predictedMount(name: string): string {
  const comment = readFileSync(join(schedules, `${name}.yaml`), 'utf8');
  const found = /Second mount in (\d+) of \d+, (\d+) to (\d+) s/.exec(comment);
  if (found === null) return 'none';
  const [, count, from, to] = found;
  return `${from} to ${to} s${count === '40' ? '' : ` (in ${count} of 40)`}`;
}

function row(name: string): string {
  const { predicted } = readSchedule(join(schedules, `${name}.yaml`));
  const foretold = `| ${name} | ${predicted.join(', ')} | ${predictedMount(name)}`;
  const line = measured.get(folderOf(name));
  if (line === undefined) return `${foretold} | not run yet | | |`;
  const { verdict, secondMountS } = line.outcome;
  const right = ruleOfThumb(line) === (gradeOf(verdict) === 'damaged');
  const told = `**${verdict}** | ${mount(secondMountS)}`;
  return `${foretold} | ${told} | ${right ? 'right' : '**wrong**'} |`;
}

test('the page has what was predicted and what was measured', async () => {
  const [head, , tail] = readFileSync(page, 'utf8').split(/<!-- runs -->\n|<!-- end -->/);
  const table = [
    '| Schedule | predicted | second mount | measured | second mount | rule of thumb |',
    '| --- | --- | --- | --- | --- | --- |',
    ...named.map(row),
  ].join('\n');
  const whole = `${head}<!-- runs -->\n${table}\n<!-- end -->${tail}`;
  await expect(whole).toMatchFileSnapshot(join('../..', page));
});
