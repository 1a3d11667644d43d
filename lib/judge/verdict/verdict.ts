/** The verdict: its algebra and its shape. Damage stands; the absence of damage needs every proof. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ExitCode, exitCode, readJson } from '../../core/index.ts';
import { type RunRecord, migrateVerdict, provisioningSchema } from '../../history/index.ts';
import { type Scenario, safetyLevels, servingWords, verdictWords } from '../../scenario/index.ts';
import { type Reason, reasonSchema } from '../facts/witnessed.ts';

export type Safety = (typeof safetyLevels)[number];
export type VerdictWord = (typeof verdictWords)[number];

export const worst = (levels: readonly Safety[]): Safety =>
  levels.reduce((a, b) => (safetyLevels.indexOf(b) > safetyLevels.indexOf(a) ? b : a), 'safe');

/**
 * Proven damage stands even when evidence is missing; without damage a run that lacks evidence is
 * inconclusive, never safe — nor `exposed`, since damage may hide in what could not be read.
 */
export function verdictWord(safety: Safety, complete: boolean): VerdictWord {
  if (safety === 'lost' || safety === 'corrupt') return safety;
  return complete ? safety : 'inconclusive';
}

/** The head of every verdict, of a run on one server or on a group. */
export function wordsOf(
  { scenario }: Pick<RunRecord, 'scenario'>,
  findings: readonly Finding[],
  reasons: readonly Reason[],
) {
  const safety = worst(findings.map((finding) => finding.safety));
  const complete = reasons.length === 0;
  return {
    ...{ verdict: verdictWord(safety, complete), safety, complete },
    ...{ incompleteBecause: reasons.map(({ words }) => words), reasons: [...reasons] },
    expected: [...scenario.expected],
  };
}

/** Both parts of the expectation count. */
export function exitCodeOf(from: Pick<Verdict, 'verdict' | 'asExpected' | 'open'>): ExitCode {
  const { verdict, asExpected, open } = from;
  if (asExpected) return exitCode.expected;
  if (open === true) return exitCode.open;
  return verdict === 'inconclusive' ? exitCode.inconclusive : exitCode.unexpected;
}

const seconds = z.number().nullable();

const lossSchema = z.object({
  acked: z.number().int(),
  lost: z.number().int(),
});

const countSchema = z.object({ count: z.number().int(), of: z.number().int() }).nullable();

const findingSchema = z.object({
  /** Stable, e.g. `LEDGER_LOST`. */
  code: z.string(),
  level: z.enum(['damage', 'exposure', 'incomplete', 'note']),
  /** How bad: only damage and exposure raise safety. */
  safety: z.enum(safetyLevels),
  /** Would a normal operator have been told? */
  loud: z.boolean(),
  summary: z.string(),
  /** What proves it: lines, rows, numbers. */
  evidence: z.array(z.string()),
});
export type Finding = z.output<typeof findingSchema>;

const licenceStepSchema = z.object({
  /** Seconds after the fault. */
  atS: z.number(),
  step: z.string(),
  source: z.string(),
  evidence: z.string(),
  /** Who asked for it, where a record tells. */
  by: z.string().optional(),
  /** The time of the record that proves it, ms on the run's clock. */
  recordMs: z.number().optional(),
});
export type LicenceStep = z.output<typeof licenceStepSchema>;

const licenceSchema = z.object({
  from: z.string(),
  to: z.string(),
  atS: z.number(),
  /** The old node could still write the volume. */
  overlaps: z.boolean(),
  steps: z.array(licenceStepSchema),
  gaps: z.array(z.string()),
});
export type Licence = z.output<typeof licenceSchema>;

/** What an operator is told (words.ts). */
const noticeSchema = z.object({
  /** Who told it, such as `kubelet`, `fsck`, the server. */
  by: z.string(),
  /** What he told, a few words. */
  what: z.string(),
  count: z.number().int(),
  /** Seconds after the fault; null of a check of a copy, which has no such time. */
  firstS: z.number().nullable(),
  lastS: z.number().nullable(),
  when: z.enum(['before the heal', 'after the heal']),
  /** More than a fail-over that does no harm would show. */
  ofHarm: z.boolean(),
  /** The first of them, as it was told. */
  evidence: z.string(),
});
export type Notice = z.output<typeof noticeSchema>;

/** A node that had the volume and could not mount it. */
const refusedMountSchema = z.object({
  node: z.string(),
  /** From when on it had the volume, seconds after the fault. */
  fromS: z.number(),
  /** What it wrote without a mount; null where nobody can tell, as without a log of writes. */
  bytesWritten: z.number().int().nullable(),
  /** How often its mount was refused, the first and the last time. */
  times: z.number().int(),
  firstS: z.number(),
  lastS: z.number(),
  /** When it was mounted there after all; null where it never was. */
  mountedS: z.number().nullable(),
  /** What the refusals said, each once, the first few. */
  errors: z.array(z.string()),
});
export type RefusedMount = z.output<typeof refusedMountSchema>;

export const verdictSchema = z.object({
  schemaVersion: z.literal(1),
  /** One sentence with numbers. */
  sentence: z.string(),
  verdict: z.enum(verdictWords),
  safety: z.enum(safetyLevels),
  complete: z.boolean(),
  /** Why it is not complete; empty when it is. */
  incompleteBecause: z.array(z.string()),
  /** The same by code, in that order. Empty in verdicts before 2026-11-27. */
  reasons: z.array(reasonSchema).default([]),
  expected: z.array(z.enum(verdictWords)),
  /** Both parts: the verdict is one of `expected`, and somebody serves where that is expected. */
  asExpected: z.boolean(),
  /** No expectation: a race that nobody counted, or anything would have been expected. */
  open: z.boolean().optional(),
  /** After the heal. Asked of whole disks: where two could write or damage was done it is `open`. */
  serving: z.object({
    expected: z.enum(servingWords),
    because: z.string(),
    /** A client outside got commits until the writers were stopped. */
    served: z.boolean(),
    asExpected: z.boolean(),
  }),
  basis: z.enum(['measured', 'shortened', 'predicted']),
  /** Null where there was nothing to notice, or not all who would have told were heard. */
  noticed: z.enum(['loud', 'silent']).nullable(),
  /** What an operator is told, by whom and when; `noticed` follows from it. */
  notices: z.array(noticeSchema),
  /** Nodes that had the volume and could not mount it. */
  refusedMounts: z.array(refusedMountSchema),
  availability: z.object({
    downtimeMs: z.number().nullable(),
    /** Within the scenario's bound a database that stays had the volume alone, and committed. */
    recovered: z.boolean(),
  }),
  exposure: z.object({
    ms: z.number(),
    bytesVictim: z.number(),
    bytesSuccessor: z.number(),
    /** Blocks of 4 KiB that both wrote; absent where the disk kept no log of writes, as below. */
    blocksBoth: z.number().int().optional(),
    /** From when to when, seconds after the fault. */
    fromS: z.number().optional(),
    toS: z.number().optional(),
  }),
  /** Null where no copy can tell: none was made after the fault, or their audits failed. */
  loss: z
    .object({
      beforeFault: lossSchema,
      victimBeforeHandover: lossSchema,
      victimAfterHandover: lossSchema,
      successor: lossSchema,
    })
    .nullable(),
  acked: z.number().int(),
  /** What any copy lacks, epoch by epoch, as in `loss`: unreadable commits count as well. */
  lost: z.number().int().nullable(),
  /** Acknowledged commits. Null where no copy of the volume can tell. */
  missing: z.object({
    /** The copy before the heal could not be read in full, and these were not found in it. */
    unreadableBeforeHeal: countSchema,
    /** Gone for good: the last copy that could be read in full lacks them. */
    lost: countSchema,
    /** Not found in the copy after the heal, be they lost or unreadable. */
    afterHeal: countSchema,
  }),
  /** `first`: before the heal, what the fault did; `second`: after it. In the order of the copies. */
  images: z.array(
    z.object({
      image: z.enum(['steady', 'first', 'second']),
      /** Acknowledged commits that this copy had to hold. */
      acked: z.number().int(),
      /** Null where its audit failed: what it holds is not known. */
      lost: z.number().int().nullable(),
      /** Every ledger row could be read; if its damage forbade it, what could not be counts as lost. */
      readable: z.boolean(),
    }),
  ),
  /** Seconds after the fault; null where it did not happen. */
  phases: z.object({
    notReady: seconds,
    evicted: seconds,
    podRemoved: seconds,
    detached: seconds,
    attached: seconds,
    secondMount: seconds,
    recovered: seconds,
    firstCommit: seconds,
  }),
  /** Nothing was seen until here, where no second mount came: seconds after the fault; 0: that never came. */
  horizonS: z.number(),
  licence: z.array(licenceStepSchema),
  /** Links that the first second mount must have had and no record proves. */
  licenceGaps: z.array(z.string()),
  /** Licences of every further second mount: back to the old node, or after the heal. */
  laterLicences: z.array(licenceSchema),
  findings: z.array(findingSchema),
  certificates: z.array(
    z.object({
      fault: z.string(),
      moment: z.string(),
      claim: z.string(),
      holds: z.boolean(),
      evidence: z.string(),
    }),
  ),
  timers: z.record(z.string(), z.number()),
  versions: z.record(z.string(), z.string()),
  /** How the volume came about, where it was provisioned for its claim. */
  provisioning: provisioningSchema.optional(),
  /** SHA-256 of history/run.hist, whose list has one of every other file. Absent where there is none. */
  historySha256: z.string().optional(),
  // A record for those who read it; with its form for us.
  scenario: z.record(z.string(), z.unknown()) as unknown as z.ZodType<Scenario>,
  seed: z.string(),
  runId: z.string(),
  replay: z.string(),
  /** What a caller of the library brought along; the scenario names the kinds they are judged as. */
  custom: z
    .object({
      fault: z.string().optional(),
      remedy: z.string().optional(),
      database: z.string().optional(),
      checkers: z.array(z.string()).optional(),
    })
    .optional(),
  /** The backend’s name; whether it predicts is in `basis`. */
  cluster: z.string(),
});

export type Verdict = z.output<typeof verdictSchema>;
export type Phases = Verdict['phases'];
export type Loss = NonNullable<Verdict['loss']>;

// Reads what is asked for of a run's verdict.json, whichever version wrote it.

/** A verdict as it is read: an older one does not tell whether somebody served. */
export const storedVerdict = verdictSchema.extend({
  serving: verdictSchema.shape.serving.nullable(),
});

/** Undefined where the run came to none. Throws UsageError `VERDICT_…` as `readJson` does. */
export function readVerdict<T>(folder: string, schema: z.ZodType<T>): T | undefined {
  const path = join(folder, 'verdict.json');
  if (!existsSync(path)) return undefined;
  return readJson(path, {
    ...{ kind: 'verdict', schema: z.preprocess(migrateVerdict, schema), version: 1 },
    hint: '`npx forcedetach report` makes it again from the run’s history',
    example: 'reports/samples/network-partition/verdict.json',
  });
}
