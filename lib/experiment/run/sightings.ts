/** What the runner must know while it runs, kept up to date from the records as they are made. */
import type { PodRef } from '../../cluster/port.ts';
import type { HistoryRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { RemedyEvent } from '../../remedy-kinds.ts';

export class Sightings {
  #victim: PodRef | undefined;
  /** UIDs of pods seen Terminating. */
  readonly #terminating = new Set<string>();
  /** Nodes that have the volume mounted now. */
  readonly mountedOn = new Set<string>();
  /** The victim's node is not Ready, or its object is gone. */
  victimNotReady = false;
  /** A pod was created that is to take the victim's place. */
  successorCreated = false;
  /** When the victim's pod object was gone. */
  victimGoneAtMs: number | undefined;
  /** The pod that was last seen to become Ready. */
  ready: { readonly uid: string; readonly node: string } | undefined;
  /** The victim's volume is being taken away. */
  victimDetached = false;
  /** When another node than the victim first mounted the volume. */
  secondMountAtMs: number | undefined;

  /** From now on other nodes' mounts are second mounts. */
  begin(victim: PodRef): void {
    this.#victim = victim;
  }

  see(record: HistoryRecord): void {
    if (record.type !== 'observation') return;
    if (record.name === observed.podTerminating) this.#terminating.add(String(record.data['uid']));
    if (record.name === observed.podGone && record.data['uid'] === this.#victim?.uid) {
      this.victimGoneAtMs ??= record.t;
    }
    if (record.name === observed.podCreated && record.data['uid'] !== this.#victim?.uid) {
      this.successorCreated ||= this.#victim !== undefined;
    }
    if (record.node === undefined) return;
    if (record.name === observed.nodeGone && record.node === this.#victim?.node) {
      this.victimNotReady = true;
    }
    if (record.name === observed.nodeReady && record.node === this.#victim?.node) {
      this.victimNotReady = record.data['status'] !== 'True';
    }
    const isDetach =
      record.name === observed.attachmentDeleting || record.name === observed.attachmentGone;
    if (isDetach && record.node === this.#victim?.node) this.victimDetached = true;
    if (record.name === observed.podReady && record.data['ready'] === true) {
      this.ready = { uid: String(record.data['uid']), node: record.node };
    }
    if (record.name === observed.unmounted) this.mountedOn.delete(record.node);
    if (record.name === observed.mounted) {
      this.mountedOn.add(record.node);
      if (this.#victim !== undefined && record.node !== this.#victim.node) {
        this.secondMountAtMs ??= record.t;
      }
    }
  }

  /** Another pod than the victim's is Ready on the victim's node. */
  get cameBack(): boolean {
    const { ready } = this;
    return (
      ready !== undefined && ready.node === this.#victim?.node && ready.uid !== this.#victim.uid
    );
  }

  /** A successor's pod is there, and no other node has mounted the volume. */
  get successorPending(): boolean {
    return this.successorCreated && this.secondMountAtMs === undefined;
  }

  get victimTerminating(): boolean {
    return this.#victim !== undefined && this.#terminating.has(this.#victim.uid);
  }
}

const comes: Readonly<Record<RemedyEvent, (seen: Sightings) => boolean>> = {
  terminating: (seen) => seen.victimTerminating,
  'not-ready': (seen) => seen.victimNotReady,
  'pod-gone': (seen) => seen.victimGoneAtMs !== undefined,
  'successor-pending': (seen) => seen.successorPending,
};

/** The event that a remedy waits for was seen. */
export const hasCome = (event: RemedyEvent, seen: Sightings): boolean => comes[event](seen);
