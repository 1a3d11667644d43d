/**
 * data/expectations.json: what is expected of each fault and remedy on each disk, and why. Written
 * by hand from Kubernetes' source before anything was measured; never edited to fit a result.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { diskModes, type DiskMode } from '../../lib/scenario/disks/index.ts';
import { combined, scenarioToday } from '../../lib/scenario/index.ts';
import { contradictions } from '../../lib/scenario/contradictions.ts';
import { scenarioSchema, verdictWords, type Scenario } from '../../lib/scenario/scenario.ts';

const words = z.array(z.enum(verdictWords)).min(1);
/** Fields of a scenario; the rest is stock. */
const fields = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

const told = z.strictObject({
  /** Name of a path. */
  path: z.string(),
  /** When another node mounts the volume: N not Ready, E eviction, R the remedy, K a restart; s. */
  secondMountAt: z.string(),
  why: z.string(),
  /** A section of the model of Kubernetes that this was worked out from, or a source file. */
  source: z.string(),
});

const tableSchema = z.strictObject({
  /** What lets a second node in, and what each disk makes of it. */
  paths: z.array(
    z.strictObject({
      name: z.string(),
      about: z.string(),
      disks: z.record(z.enum(diskModes), z.strictObject({ verdicts: words, why: z.string() })),
    }),
  ),
  faults: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      scenario: fields,
      cells: z.array(told.extend({ remedy: z.string() })),
    }),
  ),
  /** Where the workload, or what it declares, changes the answer. */
  exceptions: z.array(
    told.extend({
      id: z.string(),
      name: z.string(),
      scenario: fields.optional(),
      onlyDisks: z.array(z.enum(diskModes)).optional(),
      /** Why no run can show it. */
      notRunnable: z.string().optional(),
    }),
  ),
  /** Where a rule or a measured result differs: what was decided about it. */
  differences: z.array(
    z.strictObject({
      id: z.string(),
      disks: z.array(z.enum(diskModes)),
      /** The page under docs/decisions. */
      decision: z.string(),
    }),
  ),
});
export type Table = z.output<typeof tableSchema>;

/** One expectation: a fault, a remedy (or an exception) and a disk. */
export interface ExpectedCell {
  /** `fault/remedy`, or an exception's. */
  readonly id: string;
  readonly disk: DiskMode;
  readonly verdicts: readonly (typeof verdictWords)[number][];
  readonly secondMountAt: string;
  /** What Kubernetes does, then what the disk does. */
  readonly why: string;
  readonly source: string;
  /** Undefined where no run can show it. */
  readonly scenario: Scenario | undefined;
}

const tablePath = new URL('../../data/expectations.json', import.meta.url);

export const readTable = (): Table =>
  tableSchema.parse(JSON.parse(readFileSync(tablePath, 'utf8')));

/** Every cell, in the order of the table. */
export function expectedCellsOf(table: Table): ExpectedCell[] {
  const ofFaults = table.faults.flatMap(({ id, scenario, cells }) =>
    cells.map((each) => ({
      ...each,
      id: `${id}/${each.remedy}`,
      scenario: { ...scenario, remedy: each.remedy },
      disks: diskModes,
    })),
  );
  const exceptions = table.exceptions.map(({ onlyDisks, scenario, ...each }) => ({
    ...each,
    scenario,
    disks: onlyDisks ?? diskModes,
  }));
  return [...ofFaults, ...exceptions].flatMap(({ id, disks, scenario, ...each }) =>
    disks.map((disk): ExpectedCell => {
      const { secondMountAt, why, source } = each;
      const { verdicts, why: onDisk } = onPath(table, each.path, disk);
      return {
        ...{ id, disk, verdicts, secondMountAt, source },
        why: `${why}; ${onDisk}`,
        scenario: scenario === undefined ? undefined : scenarioOf(scenario, disk),
      };
    }),
  );
}

function onPath(
  { paths }: Table,
  name: string,
  disk: DiskMode,
): { verdicts: ExpectedCell['verdicts']; why: string } {
  const found = paths.find((each) => each.name === name)?.disks[disk];
  if (found === undefined)
    throw new Error(`data/expectations.json has no path ${name} for ${disk}`);
  return found;
}

/** Undefined where its fields contradict each other: then no run can show it either. */
function scenarioOf(given: z.output<typeof fields>, disk: DiskMode): Scenario | undefined {
  const base = { name: 'expectation', question: '?', expected: ['safe'] };
  const parsed = scenarioSchema.safeParse(
    combined({ ...base, ...scenarioToday(given) }, { disk: { mode: disk } }),
  );
  return parsed.success && contradictions(parsed.data).length === 0 ? parsed.data : undefined;
}
