/** The tables of docs/reference/kubernetes-versions.md: the versions there are, and what they were measured to do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../../lib/experiment/verdict/verdict.ts';
import { kubernetesReleases, minorOf } from '../../lib/kubernetes-versions.ts';
import { batchSchema, type Batch } from '../../lib/matrix/batch.ts';
import { committedNames, committedWith } from '../support/committed.ts';

export const page = 'docs/reference/kubernetes-versions.md';
const samples = 'reports/samples';
/** The batches of experiments/matrices/versions.yaml, a folder for each minor. */
const batches = 'reports/matrix';
const minors = Object.keys(kubernetesReleases);

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

export const versionsTable = (): string =>
  table(
    ['Minor', 'built', 'published', 'supported until'],
    Object.entries(kubernetesReleases).map(([minor, { built, published, endOfLife }]) => [
      ...[minor, built, published, endOfLife],
    ]),
  );

export const folderOf = (minor: string): string => join(batches, `versions-${minor}`);

const committed = new Set(committedWith('batch.json', batches));
const readBatch = (minor: string): Batch | undefined => {
  const folder = folderOf(minor);
  if (!committed.has(folder)) return undefined;
  return batchSchema.parse(JSON.parse(readFileSync(join(folder, 'batch.json'), 'utf8')));
};

/** Folders of the committed batches, by minor. */
export const batchesByMinor = new Map(
  minors.flatMap((minor) => {
    const batch = readBatch(minor);
    return batch === undefined ? [] : [[minor, batch] as const];
  }),
);

const verdictIn = (folder: string): Verdict =>
  JSON.parse(readFileSync(join(folder, 'verdict.json'), 'utf8')) as Verdict;

/** Every run of a batch that judged a cell: `01-unfenced` → its verdict. */
export const runsOf = (minor: string): ReadonlyMap<string, Verdict> =>
  new Map(
    (batchesByMinor.get(minor)?.cells ?? []).map(({ id }) => [
      id,
      verdictIn(join(folderOf(minor), 'cells', `${id}.1`)),
    ]),
  );

const at = (seconds: number | null): string =>
  seconds === null ? '–' : `+${seconds.toFixed(1)} s`;

function shortTable(): string {
  const columns = [...batchesByMinor];
  const ids = columns[0]?.[1].cells.map(({ id, label }) => ({ id, label })) ?? [];
  const runs = new Map(columns.map(([minor]) => [minor, runsOf(minor)]));
  return table(
    [
      'With shortened timers',
      ...columns.map(([, { versions }]) => versions?.['kubernetes']?.join() ?? '?'),
    ],
    ids.map(({ id, label }) => [
      label.replace('case ', ''),
      ...columns.map(([minor]) => {
        const verdict = runs.get(minor)?.get(id);
        return verdict === undefined
          ? '–'
          : `**${verdict.verdict}**, NotReady ${at(verdict.phases.notReady)}, mount ${at(verdict.phases.secondMount)}`;
      }),
    ]),
  );
}

function stockTable(): string {
  const found = committedNames(samples)
    .map((name) => ({ name, verdict: verdictIn(join(samples, name)) }))
    .filter(({ verdict }) => minorOf(verdict.versions['kubernetes'] ?? '') !== '1.34');
  return table(
    ['With stock timers', 'Kubernetes', 'verdict', 'NotReady', 'evicted', 'second mount'],
    found.map(({ name, verdict: { verdict, phases, versions } }) => [
      `[${name}](../../reports/samples/${name}/summary.md)`,
      versions['kubernetes'] ?? '?',
      `**${verdict}**`,
      ...[phases.notReady, phases.evicted, phases.secondMount].map(at),
    ]),
  );
}

export const measuredTables = (): string => `${stockTable()}\n\n${shortTable()}`;
