/** What one trial leaves: raw, from which alone its class follows. All times are of the probe's clock. */
import { z } from 'zod';
import type { Immutable } from '../../immutable.ts';
import { variants } from '../trial-plan.ts';
import { journalSchema } from './journal.ts';

const ms = z.number();

/** One attachment of a node, by its uid: Kubernetes makes the next under the same name. */
const attachment = z.object({
  uid: z.string(),
  firstSeenMs: ms,
  lastSeenMs: ms,
  /** From the first look that found it attached. */
  attachedMs: ms.exactOptional(),
  /** The last look that did not find it attached began then. */
  waitedMs: ms.exactOptional(),
  /** The last look that found nobody asking for its end began then. */
  unaskedMs: ms.exactOptional(),
  /** Somebody asked for its end. */
  deletingMs: ms.exactOptional(),
  /** The driver's words, where an attach or a detach failed: the last. */
  attachError: z.string().exactOptional(),
  detachError: z.string().exactOptional(),
});
export type AttachmentSeen = Immutable<z.output<typeof attachment>>;

/** How a pod stands when it was last looked at. */
const pod = z.object({
  node: z.string(),
  createdMs: ms,
  /** It runs: its volume was attached, staged and published. */
  runningMs: ms.exactOptional(),
  goneMs: ms.exactOptional(),
});
export type PodSeen = Immutable<z.output<typeof pod>>;

/** Unix milliseconds of the probe; what did not happen is absent. */
export const trialRecordSchema = z.object({
  name: z.string(),
  variant: z.enum(variants),
  claim: z.string(),
  volume: z.string().exactOptional(),
  handle: z.string().exactOptional(),
  attachment: z.string().exactOptional(),
  /** The delete, and the end of the watch after it: of the attachment, or by force of the pod. */
  deleteAskedMs: ms.exactOptional(),
  /** The API's answer to it: the object may stay, with its finalizer. */
  deleteAnsweredMs: ms.exactOptional(),
  watchEndedMs: ms.exactOptional(),
  /** Between the last look that found the deleted attachment and the first that did not. */
  thereUntilMs: ms.exactOptional(),
  goneMs: ms.exactOptional(),
  /** Attachments of the writer's node, in order: the first is the one that was deleted. */
  attachments: z.array(attachment),
  nextAttachment: attachment.exactOptional(),
  writer: pod.exactOptional(),
  next: pod.exactOptional(),
  events: z.array(z.object({ reason: z.string(), message: z.string(), pod: z.string(), atMs: ms })),
  /** Added to the writer's node's time it gives the probe's, too late by no more than `clockErrorMs`. */
  clockOffsetMs: ms.exactOptional(),
  clockErrorMs: ms.exactOptional(),
  /** On the node's clock. */
  writerJournal: journalSchema,
  nextJournal: journalSchema,
  nextClockOffsetMs: ms.exactOptional(),
  /** Why the next pod did not have the volume, though the first one was gone: what reached the disk, nobody read. */
  readBack: z.string().exactOptional(),
  /** The step at which it ended early, and why. */
  ended: z.string().exactOptional(),
});
export type TrialRecord = Immutable<z.output<typeof trialRecordSchema>>;
export type EventSeen = TrialRecord['events'][number];
