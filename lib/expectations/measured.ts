/** docs/expectations-measured.json: what runs came to, beside what was expected of them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { diskModes } from '../disk-kinds.ts';
import {
  parseScenario,
  recordedScenario,
  verdictWords,
  type Scenario,
} from '../experiment/scenario.ts';
import type { Cell } from './table.ts';

const measuredSchema = z.strictObject({
  /** Of the cell. */
  id: z.string(),
  disk: z.enum(diskModes),
  verdict: z.enum(verdictWords),
  /** Stock timers, or shortened ones. */
  basis: z.enum(['measured', 'shortened']),
  /** Seconds after the fault; null: none before the heal. */
  secondMountS: z.number().nullable(),
  lost: z.number(),
  acked: z.number(),
  runId: z.string(),
  seed: z.string(),
  kubernetes: z.string(),
});
export type Measured = z.output<typeof measuredSchema>;

const path = new URL('../../docs/expectations-measured.json', import.meta.url);

export const readMeasured = (): Measured[] =>
  existsSync(path) ? z.array(measuredSchema).parse(JSON.parse(readFileSync(path, 'utf8'))) : [];

export const measuredPath = path;

/** What of a verdict.json is asked for here. */
const runSchema = z.object({
  verdict: z.enum(verdictWords),
  basis: z.enum(['measured', 'shortened', 'predicted']),
  scenario: z.record(z.string(), z.unknown()),
  phases: z.object({ secondMount: z.number().nullable() }),
  lost: z.number(),
  acked: z.number(),
  runId: z.string(),
  seed: z.string(),
  versions: z.record(z.string(), z.string()),
});

/** Every run below a folder that answers a cell; one that proves nothing, or is a prediction, does not. */
export function measuredBelow(folder: string, cells: readonly Cell[]): Measured[] {
  return verdictFiles(folder).flatMap((file) => {
    const run = runSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!run.success || run.data.verdict === 'inconclusive') return [];
    const { verdict, basis, scenario, phases, lost, acked, runId, seed, versions } = run.data;
    if (basis === 'predicted') return [];
    const cell = cellOf(recordedScenario(scenario), cells);
    if (cell === undefined) return [];
    const about = { verdict, basis, lost, acked, runId, seed };
    const { id, disk } = cell;
    const kubernetes = versions['kubernetes'] ?? 'unknown';
    return [{ id, disk, ...about, secondMountS: phases.secondMount, kubernetes }];
  });
}

function cellOf(scenario: Scenario, cells: readonly Cell[]): Cell | undefined {
  const key = keyOf(scenario);
  return cells.find((each) => each.scenario !== undefined && keyOf(each.scenario) === key);
}

const diskModesSchema = z.array(
  z.object({
    ...{ name: z.string(), flags: z.string(), verdict: z.enum(verdictWords), seed: z.string() },
    ...{ secondMountS: z.number().nullable(), lost: z.number(), acked: z.number() },
    kubernetes: z.string(),
  }),
);

/** What docs/disk-modes.json has of these cells: a disk, a remedy, nothing else changed. */
export function measuredOfDisks(file: URL, cells: readonly Cell[]): Measured[] {
  const rows = diskModesSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return rows.flatMap(({ name, flags, ...row }) => {
    const words = flags.replace('--keep-writes', '').split(' ').filter(Boolean);
    const pairs = words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]]] : []));
    const { '--disk': disk, '--remedy': remedy, ...others } = Object.fromEntries(pairs);
    if (Object.keys(others).length > 0) return [];
    // As its experiments do, which force-delete where nothing is said.
    const fault = name.startsWith('crash') ? 'node-crash' : 'network-partition';
    const base = { name: 'disk-modes', question: '?', expected: ['safe'], fault };
    const given = { ...base, disk, remedy: remedy ?? 'force-delete' };
    const cell = cellOf(parseScenario(given), cells);
    if (cell === undefined || row.verdict === 'inconclusive') return [];
    const about = { id: cell.id, disk: cell.disk, basis: 'shortened' as const };
    return [{ ...about, ...row, runId: `disk-modes/${name}` }];
  });
}

function verdictFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('verdict.json'))
    .toSorted()
    .map((name) => join(folder, name));
}

/** Names, timers, versions: what of a scenario does not decide its cell, or decides it coarsely. */
const indifferent = new Set<string>([
  ...['name', 'question', 'expected', 'connections', 'keepWrites', 'rate', 'rebootAt', 'workload'],
  'kubernetes',
  ...['graceMs', 'tolerationMs', 'forceDetachAfterMs', 'remedyAt', 'alsoAt', 'alsoForMs'],
  ...['warmupMs', 'overlapMs', 'patienceMs', 'horizonMs', 'convergeMs'],
]);

function keyOf(scenario: Scenario): string {
  const decisive = Object.entries(scenario)
    .filter(([field]) => !indifferent.has(field))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const load = scenario.rate === 0 ? 'idle' : 'busy';
  // OrderedReady or Parallel, Recreate or RollingUpdate: they differ in rollouts only.
  const kind = scenario.workload.startsWith('deployment') ? 'Deployment' : 'StatefulSet';
  return JSON.stringify([decisive, load, kind, rebootOf(scenario)]);
}

/** Back before the node is missed, at the forced detach, or later. */
function rebootOf({ fault, rebootAt, graceMs }: Scenario): string {
  if (fault !== 'node-reboot') return 'none';
  if (rebootAt === 'force-detach') return 'at the forced detach';
  return rebootAt < graceMs ? 'within' : 'after';
}

/** The newer of two results of one run takes the place of the older. */
export function merged(
  older: readonly Measured[],
  newer: readonly Measured[],
  cells: readonly Cell[],
): Measured[] {
  const byRun = new Map([...older, ...newer].map((each) => [each.runId, each]));
  const order = new Map(cells.map(({ id, disk }, at) => [`${id} ${disk}`, at]));
  const place = ({ id, disk }: Measured): number => order.get(`${id} ${disk}`) ?? cells.length;
  return [...byRun.values()]
    .filter((each) => order.has(`${each.id} ${each.disk}`))
    .toSorted((a, b) => place(a) - place(b) || (a.runId < b.runId ? -1 : 1));
}
