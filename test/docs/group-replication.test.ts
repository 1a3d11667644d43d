/** docs/results/group-replication.md: its table is made from the store of measurements; `vitest -u` writes it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fields, type SettableName } from '../../lib/scenario/fields.ts';
import { groupSettingsSchema } from '../../lib/scenario/databases/group-replication.ts';
import {
  linesOf,
  notDone,
  ofThisJudge,
  readRuns,
  scenarioOfLine,
  type RunLine,
} from '../../lib/batch/measurements.ts';
import { groupSchema, type GroupLine } from '../../lib/batch/collect.ts';
import { markdownTable } from '../../lib/core/numbers.ts';
import { filled, read, root } from './pages.ts';

const page = 'docs/results/group-replication.md';
const groups = linesOf(groupSchema).filter(ofThisJudge);
/** What is beside them: one server on one volume. */
const beside = ['none', 'force-delete-unfenced', 'force-delete-fenced', 'out-of-service'];
const samples = [...beside.map((name) => `partition-${name}`), 'node-crash'];
const singles = samples.flatMap((name) =>
  readRuns().filter(({ source }) => source === `reports/samples/${name}`),
);

const stock = new Map<string, unknown>(Object.entries(groupSettingsSchema.parse({})));

function groupRow({ scenario, versions, outcome, source }: GroupLine): string[] {
  const { fault } = scenarioOfLine({ scenario: scenario.changed, versions });
  const set = Object.entries(scenario.settings).filter(
    ([name, value]) => value !== stock.get(name),
  );
  const others = Object.entries(scenario.changed)
    .filter(([name]) => !/^(fault\.kind|database\..*)$/.test(name) && !notDone.has(name))
    .map(([name, value]) => [name, fields[name as SettableName].show(value)]);
  const more = [...set, ...others].map(([name, value]) => `, ${name} ${value}`).join('');
  return row(
    `three members, ${fault.kind}${more}, no remedy`,
    source,
    outcome.downtimeMs,
    told(outcome),
  );
}

function singleRow(line: RunLine): string[] {
  const { fault, remedy, disk } = scenarioOfLine(line);
  const { outcome, source } = line;
  const { shown, lost, acked } = outcome;
  const before = shown?.lostBeforeHeal ?? 0;
  const gone =
    before === 0
      ? told({ lost, acked })
      : `${before.toLocaleString('en')} before the heal, ${told({ lost: shown?.lostAfterHeal ?? lost, acked })} after it`;
  const what = remedy.kind === 'none' ? 'no remedy' : `${remedy.kind}, \`${disk.mode}\``;
  return row(`one instance, ${fault.kind}, ${what}`, source, shown?.downtimeMs, gone);
}

const row = (
  what: string,
  source: string,
  downtimeMs: number | null | undefined,
  gone: string,
): string[] => [
  existsSync(join(root, source)) ? `[${what}](../../${source}/summary.md)` : what,
  downtimeMs === null || downtimeMs === undefined ? '–' : `${(downtimeMs / 1000).toFixed(1)} s`,
  gone,
];

const told = ({ lost, acked }: { lost: number | null; acked: number }): string =>
  `${lost?.toLocaleString('en') ?? 'unknown'} of ${acked.toLocaleString('en')}`;

test('the table has what was measured of a group, and of one server beside it', async () => {
  expect(singles).toHaveLength(samples.length);
  const head = ['Run', 'outside clients waited', 'acknowledged commits gone'];
  const table = markdownTable(head, [...groups.map(groupRow), ...singles.map(singleRow)]);
  const whole = filled(read(page), { measured: `\n\n${table}\n\n` });
  await expect(whole).toMatchFileSnapshot(join(root, page));
});
