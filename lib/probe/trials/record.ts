/** What one trial leaves: raw, from which alone its class follows. All times are of the probe's clock. */
import type { Variant } from '../plan.ts';
import type { Journal } from './journal.ts';

/** One attachment of a node, by its uid: Kubernetes makes the next under the same name. */
export interface AttachmentSeen {
  readonly uid: string;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  /** From the first look that found it attached. */
  readonly attachedMs?: number;
  /** The last look that did not find it attached began then. */
  readonly waitedMs?: number;
  /** Somebody asked for its end. */
  readonly deletingMs?: number;
  /** The driver's words, where an attach or a detach failed: the last. */
  readonly attachError?: string;
  readonly detachError?: string;
}

export interface EventSeen {
  readonly reason: string;
  readonly message: string;
  readonly pod: string;
  readonly atMs: number;
}

/** How a pod stands when it was last looked at. */
export interface PodSeen {
  readonly node: string;
  readonly createdMs: number;
  /** It runs: its volume was attached, staged and published. */
  readonly runningMs?: number;
  readonly goneMs?: number;
}

/** Unix milliseconds of the probe, `undefined` where it did not happen. */
export interface TrialRecord {
  readonly name: string;
  readonly variant: Variant;
  readonly claim: string;
  readonly volume?: string;
  readonly handle?: string;
  readonly attachment?: string;
  /** Begins and ends of the watch after the delete. */
  readonly deleteAskedMs?: number;
  /** The API's answer to it: the object may stay, with its finalizer. */
  readonly deleteAnsweredMs?: number;
  readonly watchEndedMs?: number;
  /** Between the last look that found the deleted attachment and the first that did not. */
  readonly thereUntilMs?: number;
  readonly goneMs?: number;
  /** Of the writer's node, in order: the first is the one that was deleted. */
  readonly attachments: readonly AttachmentSeen[];
  readonly nextAttachment?: AttachmentSeen;
  readonly writer?: PodSeen;
  readonly next?: PodSeen;
  readonly events: readonly EventSeen[];
  /** Added to the writer's node's time it gives the probe's, too late by no more than `clockErrorMs`. */
  readonly clockOffsetMs?: number;
  readonly clockErrorMs?: number;
  /** On the node's clock. */
  readonly writerJournal: Journal;
  readonly nextJournal: Journal;
  readonly nextClockOffsetMs?: number;
  /** Why the next pod did not have the volume, though the first one was gone: what reached the disk, nobody read. */
  readonly readBack?: string;
  /** The step at which it ended early, and why. */
  readonly ended?: string;
}
