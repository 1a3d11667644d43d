/** Runs on a group in the store of measurements: what was done to it, how long clients waited, what is gone. */
import { z } from 'zod';
import { changedSettings, runSchema } from './expectations/runs.ts';
import { readVerdict, groupVerdictSchema } from '../judge/index.ts';
import { openHistory } from '../history/index.ts';
import { lineSchema, measuredBasis, dateOf, versionsOf } from './measurements/store.ts';

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
  const parsed = groupVerdictSchema.safeParse(
    readVerdict(folder, z.record(z.string(), z.unknown())),
  );
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
