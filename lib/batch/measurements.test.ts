import {
  combined,
  fields,
  settableNames,
  shortTimers,
  valueAt,
  withValues,
} from '../scenario/index.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseScenario, type ScenarioInput } from '../scenario/scenario.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { linesBelow } from './collect.ts';
import { only } from './counted.ts';
import {
  cellKey,
  changedSettings,
  notDone,
  scenarioOfLine,
  type RunLine,
  racesIn,
  raceKey,
} from './measurements.ts';

const scenarioWith = (fields: Partial<ScenarioInput> = {}) =>
  parseScenario(
    combined(
      {
        name: 'race',
        question: '?',
        expected: ['safe'],
        fault: { kind: 'network-partition' },
        remedy: { kind: 'force-delete' },
      },
      { timers: shortTimers },
      fields,
    ),
  );

const lineOf = (
  changes: Partial<RunLine> = {},
  verdict: RunLine['outcome']['verdict'] = 'corrupt',
): RunLine => ({
  ...{ kind: 'run', id: 'a', event: 'a', source: 'batch', date: '2026-12-01', seed: '1' },
  scenario: changedSettings({ ...scenarioWith() }),
  outcome: { verdict, served: true, acked: 9, lost: 9, secondMountS: 52 },
  ...{ basis: 'shortened', machine: { alone: false, pressure: null } },
  versions: { kubernetes: '1.37.2', mysql: '9.7.4', forcedetach: '0.1.0+abc' },
  ...changes,
});

test('a line has what is not stock, and makes the scenario again', () => {
  const scenario = scenarioWith({
    disk: { mode: 'ack-early', cutAfter: 1000 },
    load: { rate: 'max' },
  });
  const scenarioText = changedSettings({ ...scenario });
  expect(Object.keys(scenarioText).toSorted()).toEqual([
    ...['disk.cutAfter', 'disk.mode', 'fault.kind', 'load.rate', 'remedy.kind'],
    ...['timers.forceDetachAfter', 'timers.grace', 'timers.toleration'],
  ]);
  expect(raceKey(scenarioOfLine(lineOf({ scenario: scenarioText })))).toBe(raceKey(scenario));
});

test('volumes under one fault are one event, and the worst of them counts', () => {
  const lines = [
    lineOf({ id: 'a', event: 'one' }, 'exposed'),
    lineOf({ id: 'b', event: 'one' }, 'corrupt'),
    lineOf({ id: 'c', event: 'two' }, 'exposed'),
    lineOf({ id: 'd', event: 'one', source: 'another batch' }, 'lost'),
    lineOf({ id: 'e', event: 'three' }, 'inconclusive'),
    lineOf({ id: 'f', event: 'two', date: '2026-12-02' }, 'exposed'),
    lineOf({ id: 'g', event: 'four', date: '2026-11-26' }, 'safe'),
    lineOf({ id: 'h', event: 'five', date: null }, 'safe'),
  ];
  expect([...racesIn(lines).values()]).toEqual([{ exposed: 2, lost: 1, corrupt: 1 }]);
});

test('another rate, other timers and another cut are other races; another Kubernetes is not', () => {
  const key = raceKey(scenarioWith());
  expect(raceKey(scenarioWith({ load: { rate: 1 } }))).not.toBe(key);
  expect(raceKey(scenarioWith({ disk: { cutAfter: 1000, mode: 'ack-early' } }))).not.toBe(key);
  expect(
    raceKey(combined(scenarioWith(), { timers: { forceDetachAfter: 360_000, grace: 50_000 } })),
  ).toBe(key);
  const stock = { timers: { grace: 50_000, toleration: 300_000, forceDetachAfter: 360_000 } };
  expect(raceKey(scenarioWith(stock))).not.toBe(key);
  expect(raceKey(scenarioWith({ kubernetes: { version: '1.36' } }))).toBe(key);
});

test('a run is counted with those alone that have its value of each field, but for what is not done', () => {
  const stock = scenarioWith({ timers: {} });
  const changed = settableNames.map((name) => {
    const { choices, stock: usual } = fields[name];
    const known = [usual, valueAt(stock, name)];
    const word =
      name === 'disk.calls' ? 'stage=never' : choices?.find((each) => !known.includes(each));
    const other = word ?? (usual === 1000 ? 2000 : 1000);
    return { name, scenario: withValues(stock, [[name, other]]), other };
  });
  const isSame = ({ scenario }: (typeof changed)[number]): boolean =>
    cellKey(scenario) === cellKey(stock);
  expect(
    changed
      .filter(isSame)
      .map(({ name }) => name)
      .filter((name) => !notDone.has(name)),
  ).toEqual([
    ...['fault.rebootAt', 'also.at', 'also.for', 'workload.kind', 'load.rate', 'load.connections'],
    ...['kubernetes.version'],
  ]);
  const line = (scenario: RunLine['scenario']): RunLine => lineOf({ scenario });
  for (const { name, other } of changed.filter((each) => !isSame(each))) {
    const isIndifferent = name === 'database.binlog' || notDone.has(name);
    expect(only({})(line({ [name]: other })), name).toBe(isIndifferent);
    expect(only({ [name]: other })(line({})), name).toBe(false);
    expect(only({ [name]: [fields[name].stock] })(line({})), name).toBe(true);
  }
});

function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-races-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(
      join(folder, path),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  }
  return folder;
}

test('a batch that was cut short has its lines: the last attempt of each trial, and no control', () => {
  const verdict = { ...exampleVerdict, basis: 'shortened', scenario: scenarioWith() };
  const head = {
    ...{ type: 'batch', schemaVersion: 1, name: 'races', seed: 's', backend: 'kind' },
    ...{ fingerprint: 'f', startedAt: '2026-11-24T13:00:00.000Z' },
  };
  const attempt = (trial: string, folder: string, alone: boolean) => ({
    ...{ type: 'attempt', trial, attempt: 1, event: trial, slot: 'one', alone },
    ...{ folder: `cells/${folder}`, startedAt: '2026-11-24T13:10:00.000Z', durationMs: 1 },
  });
  const results = [
    head,
    attempt('01.1', '01.1', false),
    attempt('01.2', '01.2', false),
    attempt('01.2', '01.2.try-2', true),
    attempt('control-total', 'control-total', false),
  ].map((line) => JSON.stringify(line));
  const run = (runId: string) => ({ ...verdict, runId });
  const folder = folderWith({
    'results.jsonl': `${results.join('\n')}\n{"type":"att`,
    'cells/01.1/verdict.json': run('r1'),
    'cells/01.2/verdict.json': { ...run('r2'), verdict: 'inconclusive' },
    'cells/01.2.try-2/verdict.json': run('r3'),
    'cells/control-total/verdict.json': run('r4'),
  });
  const lines = linesBelow(folder, '/elsewhere');
  expect(lines.map(({ id, machine, source }) => ({ id, alone: machine.alone, source }))).toEqual([
    { id: 'r1', alone: false, source: 'batch races, seed s' },
    { id: 'r3', alone: true, source: 'batch races, seed s' },
  ]);
});
