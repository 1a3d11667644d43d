/** Lines for the store, read from the folders of batches and of single runs. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import {
  pressureOf,
  type Pressure,
  readVerdict,
  storedVerdict,
  verdictSchema,
} from '../judge/index.ts';
import { changedSettings, type RunLine, type EventDetails } from './expectations/runs.ts';
import { openHistory, type SmallRecord, type ImageLabel } from '../history/index.ts';
import { readFolder } from '../core/index.ts';
import { readResults, resultsFile, type Attempt } from './results.ts';
import { dateOf, versionsOf } from './measurements/store.ts';

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
type Wanted = z.output<typeof wanted>;

interface KnownSource {
  /** Name in the store. */
  readonly source: string;
  /** Attempt of a run in a batch; controls are no events of a cell. */
  readonly attempt?: Attempt | undefined;
}

/**
 * Every run below a folder that came to a verdict; predictions, runs of other programs, a batch's
 * controls and attempts that were made again are left out. A batch needs not have come to its end.
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
export const sourceOf = (run: string, root: string): string =>
  pathBelow(root, run) ?? 'a run by itself';

function pathBelow(root: string, folder: string): string | undefined {
  const path = relative(root, folder);
  return path === '' || path.startsWith('..') ? undefined : path;
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
  const source = pathBelow(root, batch) ?? `batch ${head.name}, seed ${head.seed}`;
  const last = new Map(attempts.map((attempt) => [attempt.trial, attempt]));
  return [...last.values()]
    .filter(({ trial }) => !trial.startsWith('control-'))
    .flatMap((attempt) => lineOf(join(batch, attempt.folder), { source, attempt }));
}

/** Line of one run; none where it proves nothing. */
export function lineOf(folder: string, { source, attempt }: KnownSource): RunLine[] {
  const parsed = wanted.safeParse(readVerdict(folder, z.record(z.string(), z.unknown())));
  if (!parsed.success) return [];
  const { runId, seed, verdict, basis, acked, lost, versions, ...run } = parsed.data;
  if (basis === 'predicted' || verdict === 'inconclusive') return [];
  // Older batches did not sum up how busy the machine was, and their histories may tell.
  const pressure = attempt?.outcome?.pressure ?? null;
  const records = pressure === null ? recordsIn(folder) : [];
  return [
    {
      ...{ kind: 'run', id: runId, event: attempt?.event ?? runId },
      scenario: changedSettings(run.scenario),
      seed,
      outcome: {
        ...{ verdict, served: run.serving?.served ?? null, acked, lost },
        ...{ secondMountS: run.phases.secondMount, shown: shownOf(parsed.data) },
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

function shownOf({ asExpected, noticed, availability, exposure, images }: Wanted): EventDetails {
  const { ms, bytesVictim, bytesSuccessor, blocksBoth } = exposure;
  const lostIn = (label: ImageLabel): number | undefined =>
    images.find(({ image }) => image === label)?.lost ?? undefined;
  return {
    ...{ asExpected, noticed, downtimeMs: availability.downtimeMs },
    ...{ exposureMs: ms, bytesVictim, bytesSuccessor, blocksBoth },
    ...{ lostBeforeHeal: lostIn('first'), lostAfterHeal: lostIn('second') },
  };
}

const recordsIn = (folder: string): readonly SmallRecord[] =>
  existsSync(join(folder, 'history')) ? [...openHistory(folder).smallRecords()] : [];

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
