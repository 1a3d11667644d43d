/** Volumes on which nothing was done that may harm them, in the store of measurements: what the audit said of each. */
import { z } from 'zod';
import type { Finding } from '../../lib/judge/index.ts';
import { lineSchema } from '../../lib/batch/index.ts';

/** Its id names the volume for ever: a number and a story, or the id of a run. */
export const volumeSchema = lineSchema.extend({
  kind: z.literal('clean-volume'),
  scenario: z.strictObject({
    /** Name of the backend that ran it, such as `kind`; `disk`: a server on the disk alone. */
    via: z.string(),
    /** What the volume went through. */
    story: z.string(),
    filesystem: z.string(),
  }),
  outcome: z.strictObject({
    /** Copies of it that were audited. */
    images: z.number(),
    /** Acknowledged commits that the last of them had to hold. */
    acked: z.number(),
    /** `CODE: summary` of each finding that accuses the volume. */
    flagged: z.array(z.string()),
    /** The same of each gap in the evidence: such a volume proves nothing. */
    incomplete: z.array(z.string()),
  }),
});
export type CleanVolume = Readonly<z.output<typeof volumeSchema>>;

/** What the audit said, as a volume notes it. Notes (`level: note`) accuse nobody. */
export function saidOf(
  findings: readonly Finding[],
): Pick<CleanVolume['outcome'], 'flagged' | 'incomplete'> {
  const of = (level: Finding['level']): string[] =>
    findings
      .filter((finding) => finding.level === level)
      .map(({ code, summary }) => `${code}: ${summary}`);
  return { flagged: of('damage'), incomplete: of('incomplete') };
}
