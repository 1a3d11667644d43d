/** Lines for the store of measurements, read from the folders of batches, of single runs and of runs on a group. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { readFolder } from '../core/index.ts';
import { openHistory, type ImageLabel, type SmallRecord } from '../history/index.ts';
import {
  type Pressure,
  groupVerdictSchema,
  pressureOf,
  readVerdict,
  storedVerdict,
  verdictSchema,
} from '../judge/index.ts';
import {
  changedSettings,
  dateOf,
  lineSchema,
  measuredBasis,
  runSchema,
  versionsOf,
  type EventDetails,
  type RunLine,
} from './measurements.ts';
import { countedIn, readResults, resultsFile, type Attempt } from './results.ts';
import { missingRuns } from './seals.ts';

/** What of a verdict.json is asked for here. */
const wanted = storedVerdict
  .pick({
    ...{ verdict: true, basis: true, scenario: true, serving: true, lost: true, acked: true },
    ...{ runId: true, seed: true, versions: true, asExpected: true, noticed: true },
  })
  .extend({
    phases: verdictSchema.shape.phases.pick({ secondMount: true }),
    availability: verdictSchema.shape.availability.pick({ downtimeMs: true }),
    exposure: verdictSchema.shape.exposure.pick({
      ...{ ms: true, bytesVictim: true, bytesSuccessor: true, blocksBoth: true },
    }),
    images: z.array(z.object({ image: z.string(), lost: z.number().nullable() })),
  });

/**
 * Every run below a folder that came to a verdict; predictions, runs of other programs, a batch's
 * controls and attempts that were made again are left out. A batch need not have come to its end.
 * `root`: sources below it are named by their path, others by what they are.
 */
export function linesBelow(folder: string, root: string): RunLine[] {
  const batches = foldersWith(folder, resultsFile);
  const alone = foldersWith(folder, 'verdict.json').filter((run) =>
    batches.every((batch) => !run.startsWith(join(batch, '/'))),
  );
  return [
    ...batches.flatMap((batch) => linesOfBatch(batch, root)),
    ...alone.flatMap((run) => lineOf(run, { source: sourceOf(run, root) })),
  ];
}

/** Source of a run that is in no batch. */
export function sourceOf(run: string, root: string, otherwise = 'a run by itself'): string {
  const path = relative(root, run);
  return path === '' || path.startsWith('..') ? otherwise : path;
}

/** At any depth. Throws UsageError `FOLDER_UNREADABLE`. */
export const foldersWith = (folder: string, name: string): string[] =>
  readFolder(folder)
    .flatMap((entry) => {
      if (entry.name === name) return [folder];
      return entry.isDirectory() ? foldersWith(join(folder, entry.name), name) : [];
    })
    .toSorted();

function linesOfBatch(batch: string, root: string): RunLine[] {
  const results = readResults(batch);
  if (results === undefined) return [];
  const { head, attempts } = results;
  const source = sourceOf(batch, root, `batch ${head.name}, seed ${head.seed}`);
  const last = new Map(attempts.map((attempt) => [attempt.trial, attempt]));
  return [...last.values()]
    .filter(({ trial }) => !trial.startsWith('control-'))
    .flatMap((attempt) => lineOf(join(batch, attempt.folder), { source, attempt }));
}

const unshaped = z.record(z.string(), z.unknown());

/**
 * Line of one run; none where it proves nothing. `source`: its name in the store. Throws EvidenceError
 * `BATCH_ALTERED` where the verdict is not that of the attempt.
 */
export function lineOf(
  folder: string,
  { source, attempt }: { readonly source: string; readonly attempt?: Attempt },
): RunLine[] {
  if (attempt !== undefined) missingRuns(folder, [{ ...countedIn(attempt), folder: '' }]);
  const parsed = wanted.safeParse(readVerdict(folder, unshaped));
  if (!parsed.success) return [];
  const { runId, seed, verdict, basis, acked, lost, versions, ...run } = parsed.data;
  if (basis === 'predicted' || verdict === 'inconclusive') return [];
  const { ms: exposureMs, ...written } = run.exposure;
  const lostIn = (label: ImageLabel): number | undefined =>
    run.images.find(({ image }) => image === label)?.lost ?? undefined;
  const shown: EventDetails = {
    ...{ asExpected: run.asExpected, noticed: run.noticed },
    ...{ downtimeMs: run.availability.downtimeMs, exposureMs, ...written },
    ...{ lostBeforeHeal: lostIn('first'), lostAfterHeal: lostIn('second') },
  };
  // Older batches did not sum up how busy the machine was, and their histories may have it.
  const pressure = attempt?.outcome?.pressure ?? null;
  const records =
    pressure === null && existsSync(join(folder, 'history'))
      ? [...openHistory(folder).smallRecords()]
      : [];
  return [
    {
      ...{ kind: 'run', id: runId, event: attempt?.event ?? runId },
      scenario: changedSettings(run.scenario),
      seed,
      outcome: {
        ...{ verdict, served: run.serving?.served ?? null, acked, lost },
        ...{ secondMountS: run.phases.secondMount, shown },
      },
      basis,
      machine: {
        alone: attempt?.alone ?? null,
        pressure: records.length === 0 ? pressure : pressureUnderFault(records),
      },
      versions: { kubernetes: 'unknown', ...versionsOf(versions) },
      source,
      date: attempt?.startedAt ?? dateOf(records),
    },
  ];
}

function pressureUnderFault(records: readonly SmallRecord[]): Pressure {
  const at = (isIt: (record: SmallRecord) => boolean): number | undefined => records.find(isIt)?.t;
  return pressureOf({
    records,
    faultAtMs: at(
      (record) => record.type === 'action' && record.actor === 'fault' && record.step === 'begin',
    ),
    secondImageAtMs: at((record) => record.type === 'phase' && record.phase === 'second-image'),
  });
}

export const groupSchema = lineSchema.extend({
  kind: z.literal('group-replication'),
  scenario: z.strictObject({
    /** Fields that are not stock, as of any run. */
    changed: runSchema.shape.scenario,
    /** Settings of the group, all of them. */
    settings: groupVerdictSchema.shape.settings,
  }),
  seed: z.string(),
  outcome: z.strictObject({
    ...groupVerdictSchema.pick({ verdict: true, acked: true, lost: true }).shape,
    /** Outside clients commit after the heal. */
    served: z.boolean(),
    /** Longest time without a commit that an outside client got. */
    downtimeMs: z.number().nullable(),
  }),
  basis: measuredBasis,
  versions: runSchema.shape.versions,
});
export type GroupLine = Readonly<z.output<typeof groupSchema>>;

/** Line of one run on a group; none where it is none, or proves nothing. */
export function groupLineOf(folder: string, source: string): GroupLine[] {
  const parsed = groupVerdictSchema.safeParse(readVerdict(folder, unshaped));
  if (!parsed.success) return [];
  const { runId, scenario, settings, seed, verdict, acked, lost, basis, ...run } = parsed.data;
  if (basis === 'predicted' || verdict === 'inconclusive') return [];
  const { recovered: served, downtimeMs } = run.availability;
  return [
    {
      ...{ kind: 'group-replication', id: runId, seed, basis, source },
      scenario: { changed: changedSettings(scenario), settings },
      outcome: { verdict, acked, lost, served, downtimeMs },
      versions: { kubernetes: 'unknown', ...versionsOf(run.versions) },
      date: dateOf([...openHistory(folder).smallRecords()]),
    },
  ];
}
