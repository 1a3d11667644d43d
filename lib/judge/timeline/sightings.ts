/** What the runner must know while it runs, kept up to date from the records as they are made. */
import {
  type PodRef,
  type HistoryRecord,
  type ObservationRecord,
  observed,
} from '../../history/index.ts';
import type { JudgedDatabase } from '../database.ts';
import { milestones, type MilestoneName } from './milestones.ts';
import { rolesOf, type Roles } from './roles.ts';

/** Whose first time somebody waits for. */
const awaited = ['pod-gone', 'created', 'detach-asked', 'detached', 'mounted'] as const;
type Awaited = (typeof awaited)[number];

export class Sightings {
  readonly #database: JudgedDatabase;
  #victim: PodRef | undefined;
  #roles: Roles | undefined;
  /** A pod may be Terminating before it is the victim's. */
  readonly #terminating: ObservationRecord[] = [];
  readonly #firstAtMs = new Map<Awaited, number>();
  /** Nodes that have the volume mounted now. */
  readonly mountedOn = new Set<string>();
  /** The victim's node is not Ready, or its object is gone. */
  victimNotReady = false;
  /** The last pod that became Ready. */
  ready: { readonly uid: string; readonly node: string } | undefined;

  constructor(database: JudgedDatabase) {
    this.#database = database;
  }

  /** From now on other nodes' mounts are second mounts. */
  begin(victim: PodRef): void {
    this.#victim = victim;
    this.#roles = rolesOf(victim, this.#database);
  }

  see(record: HistoryRecord): void {
    if (record.type !== 'observation') return;
    const { name, node, data } = record;
    if (name === observed.podTerminating) this.#terminating.push(record);
    if (node !== undefined) {
      if (name === observed.mounted) this.mountedOn.add(node);
      if (name === observed.unmounted) this.mountedOn.delete(node);
      if (name === observed.podReady && data.ready) {
        this.ready = { uid: data.uid, node };
      }
    }
    if (this.#roles !== undefined) this.#note(record, this.#roles);
  }

  #note(record: ObservationRecord, roles: Roles): void {
    const is = (name: MilestoneName): boolean => milestones[name].is(record, roles);
    if (is('not-ready') || is('node-gone')) this.victimNotReady = true;
    if (is('ready-again')) this.victimNotReady = false;
    for (const name of awaited) {
      if (!this.#firstAtMs.has(name) && is(name)) this.#firstAtMs.set(name, record.t);
    }
  }

  get victimTerminating(): boolean {
    const roles = this.#roles;
    return (
      roles !== undefined &&
      this.#terminating.some((record) => milestones.evicted.is(record, roles))
    );
  }

  /** When the victim's pod object was gone. */
  get victimGoneAtMs(): number | undefined {
    return this.#firstAtMs.get('pod-gone');
  }

  get victimGone(): boolean {
    return this.#firstAtMs.has('pod-gone');
  }

  /** The victim's volume is being taken away. */
  get victimDetached(): boolean {
    return this.#firstAtMs.has('detach-asked') || this.#firstAtMs.has('detached');
  }

  /** When another node than the victim first mounted the volume. */
  get secondMountAtMs(): number | undefined {
    return this.#firstAtMs.get('mounted');
  }

  /** A successor's pod is there, and no other node has mounted the volume. */
  get successorPending(): boolean {
    return this.#firstAtMs.has('created') && this.secondMountAtMs === undefined;
  }

  /** Another pod than the victim's is Ready on the victim's node. */
  get cameBack(): boolean {
    const { ready } = this;
    return (
      ready !== undefined && ready.node === this.#victim?.node && ready.uid !== this.#victim.uid
    );
  }
}
