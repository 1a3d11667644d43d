/** One volume on which nothing was done that may harm it, and what the audit said of it. */
import { z } from 'zod';
import type { Finding } from '../experiment/verdict/verdict.ts';
import { parseJson } from '../json-file.ts';

const volumeSchema = z.object({
  schemaVersion: z.literal(1),
  /** Names the volume for ever: a number and a story, or the id of a run. */
  key: z.string(),
  /** `kind`: a run on a cluster; `disk`: a server on the disk alone. */
  via: z.enum(['kind', 'disk']),
  /** What the volume went through. */
  story: z.string(),
  filesystem: z.string(),
  /** Copies of it that were audited. */
  images: z.number(),
  /** Acknowledged commits that the last of them had to hold. */
  acked: z.number(),
  /** `CODE: summary` of each finding that accuses the volume. */
  flagged: z.array(z.string()),
  /** The same of each gap in the evidence: such a volume proves nothing. */
  incomplete: z.array(z.string()),
});
export type CleanVolume = z.output<typeof volumeSchema>;

/** What the audit said, as a volume notes it. Notes (`level: note`) accuse nobody. */
export function saidOf(findings: readonly Finding[]): Pick<CleanVolume, 'flagged' | 'incomplete'> {
  const of = (level: Finding['level']): string[] =>
    findings
      .filter((finding) => finding.level === level)
      .map(({ code, summary }) => `${code}: ${summary}`);
  return { flagged: of('damage'), incomplete: of('incomplete') };
}

/** One volume a line; a last line that was cut off by a kill is left out. Throws UsageError `VOLUME_INVALID`. */
export const parseVolumes = (jsonl: string, name = 'volumes.jsonl'): CleanVolume[] =>
  jsonl
    .split('\n')
    .slice(0, -1)
    .map((line, index) => parseJson(line, `${name}:${index + 1}`, volumeKind));

const volumeKind = {
  ...{ kind: 'volume', schema: volumeSchema, version: 1 },
  hint: 'every line is one that experiments/false-alarms.mjs added',
  example: 'reports/false-alarms/volumes.jsonl',
};
