/** The verdict of a run on a replication group: the words are everyone's, the measures its own. */
import { z } from 'zod';
import { verdictSchema } from '../verdict/verdict.ts';

const seconds = z.number().nullable();
const count = z.number().int();
const common = verdictSchema.pick({
  ...{ sentence: true, verdict: true, safety: true, complete: true, incompleteBecause: true },
  ...{ reasons: true, expected: true, asExpected: true, basis: true },
}).shape;
const { acked, lost, loss, findings, certificates, timers, versions } = verdictSchema.shape;
const { scenario, seed, runId, replay, custom, cluster, historySha256 } = verdictSchema.shape;

/** In the order in which a verdict has them. */
export const phaseWords = {
  suspected: 'another member reports the victim as unreachable',
  expelled: 'the group expels the victim',
  newPrimary: 'the group has another primary',
  routed: 'a router sends outside clients there',
  firstCommit: 'the first commit there',
  victimAlone: 'the victim sees no majority',
  victimLeft: 'the victim reports that it left the group',
  victimReadOnly: 'the victim is read-only',
  victimOffline: 'the victim refuses ordinary users',
  healed: 'healed',
  rejoined: 'the victim is an online member again',
} as const;

export const groupVerdictSchema = z.object({
  schemaVersion: z.literal(1),
  /** It tells this one from the verdict of a single server. */
  kind: z.literal('group-replication'),
  ...common,
  availability: z.object({
    /** Longest time without a commit that an outside client got, ms. */
    downtimeMs: z.number().nullable(),
    /** Outside clients commit after the heal. */
    recovered: z.boolean(),
    /** The victim is a member in good order again. */
    rejoined: z.boolean(),
  }),
  ...{ acked, lost, loss },
  /** Acknowledged commits that the group had to hold: `first` before the heal, `second` after it. */
  readings: z.array(
    z.object({ reading: z.enum(['first', 'second']), node: z.string(), acked: count, lost: count }),
  ),
  /** The cut-off primary, from when the fault was there until it was a member again. */
  victim: z.object({
    node: z.string(),
    /** Commits that it acknowledged, and how those it did not ended for their clients. */
    acked: count,
    refused: count,
    unknown: count,
    /** The last acknowledgement, seconds after the fault was there. */
    lastAckS: seconds,
    readsAnswered: count,
    readsRefused: count,
    /** Answered without commits that the group had acknowledged before the read began. */
    staleReads: count,
    /** By how much the stalest answer was behind, ms. */
    stalestMs: z.number().nullable(),
    /** So long it called itself the primary of a whole group while that had another one, ms. */
    claimedMs: z.number(),
  }),
  /** Reads at the new primary that lacked commits acknowledged before: between fault and end. */
  successor: z.object({ node: z.string().nullable(), readsAnswered: count, staleReads: count }),
  /** Seconds after the fault; null where no record shows it. */
  phases: z.record(z.enum(Object.keys(phaseWords) as (keyof typeof phaseWords)[]), seconds),
  /** What each member held at the end. */
  members: z.array(
    z.object({
      node: z.string(),
      rows: count.nullable(),
      /** Agreement with the group's primary; null where it was not a member then, or did not answer. */
      agrees: z.boolean().nullable(),
      /** Transactions that the group does not have: a set of GTIDs, `` for none. */
      beyond: z.string(),
    }),
  ),
  ...{ findings, certificates, timers, versions },
  settings: z.record(z.string(), z.union([z.string(), z.number()])),
  ...{ scenario, seed, runId, replay, custom, cluster, historySha256 },
});

export type GroupVerdict = z.output<typeof groupVerdictSchema>;
