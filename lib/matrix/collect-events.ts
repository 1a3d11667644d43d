/** Lines for the store, read from the folders of batches and of single runs. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { pressureOf, type Pressure } from '../experiment/evidence/machine-time.ts';
import { readVerdict } from '../experiment/verdict/read-verdict.ts';
import { verdictWords } from '../experiment/scenario.ts';
import { openHistory } from '../history/reader.ts';
import { readFolder } from '../input-file.ts';
import { readResults, resultsFile, type Attempt } from './results.ts';
import { tellStory } from '../timeline/story.ts';
import { changedSettings, type EventLine } from '../expectations/event-store.ts';

/** What of a verdict.json is asked for here. */
const runSchema = z.object({
  verdict: z.enum(verdictWords),
  basis: z.enum(['measured', 'shortened', 'predicted']),
  scenario: z.record(z.string(), z.unknown()),
  phases: z.object({ secondMount: z.number().nullable() }),
  serving: z.object({ served: z.boolean() }).nullable(),
  lost: z.number().nullable(),
  acked: z.number(),
  runId: z.string(),
  seed: z.string(),
  versions: z.record(z.string(), z.string()),
});
type BatchRun = z.output<typeof runSchema>;

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
export function linesBelow(folder: string, root: string): EventLine[] {
  const batches = foldersWith(folder, resultsFile);
  const alone = foldersWith(folder, 'verdict.json').filter((run) =>
    batches.every((batch) => !run.startsWith(join(batch, '/'))),
  );
  return [
    ...batches.flatMap((batch) => linesOfBatch(batch, root)),
    ...alone.flatMap((run) => lineOf(run, { source: pathBelow(root, run) ?? 'a run by itself' })),
  ];
}

function pathBelow(root: string, folder: string): string | undefined {
  const path = relative(root, folder);
  return path === '' || path.startsWith('..') ? undefined : path;
}

/** At any depth. Throws UsageError `FOLDER_UNREADABLE`. */
const foldersWith = (folder: string, file: string): string[] =>
  readFolder(folder)
    .flatMap((entry) => {
      if (entry.isDirectory()) return foldersWith(join(folder, entry.name), file);
      return entry.name === file ? [folder] : [];
    })
    .toSorted();

function linesOfBatch(batch: string, root: string): EventLine[] {
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
export function lineOf(folder: string, { source, attempt }: KnownSource): EventLine[] {
  const parsed = runSchema.safeParse(readVerdict(folder, z.record(z.string(), z.unknown())));
  if (!parsed.success) return [];
  const run = parsed.data;
  if (run.basis === 'predicted' || run.verdict === 'inconclusive') return [];
  const { runId, seed, verdict, basis, acked, lost } = run;
  return [
    {
      run: runId,
      event: attempt?.event ?? runId,
      source,
      date: attempt?.startedAt ?? null,
      scenario: changedSettings(run.scenario),
      ...{ seed, verdict, basis },
      served: run.serving?.served ?? null,
      ...{ acked, lost },
      secondMountS: run.phases.secondMount,
      alone: attempt?.alone ?? null,
      pressure: attempt?.outcome?.pressure ?? pressureIn(folder),
      ...versionsOf(run),
    },
  ];
}

const versionsOf = ({
  versions,
}: BatchRun): Pick<EventLine, 'kubernetes' | 'mysql' | 'harness'> => ({
  kubernetes: versions['kubernetes'] ?? 'unknown',
  mysql: /\d+\.\d+\.\d+/.exec(versions['mysql'] ?? '')?.[0] ?? null,
  harness: versions['forcedetach'] ?? null,
});

/** Older batches did not sum it up, and their histories may tell. */
function pressureIn(folder: string): Pressure | null {
  if (!existsSync(join(folder, 'history'))) return null;
  return pressureOf(tellStory([...openHistory(folder).smallRecords()]));
}
