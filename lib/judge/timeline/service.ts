/** What clients got: who acknowledged when, and the longest time an outside client went without. */
import type { Story } from './story.ts';
import { type OutcomeRecord, type SessionRecord, sessionKey } from '../../history/index.ts';

export interface ServiceWindow extends Pick<Story, 'faultAtMs' | 'victimNode'> {
  /** When the writers were stopped. */
  readonly endAtMs: number;
}

export interface Service {
  readonly acked: number;
  /** First acknowledgement by another node than the victim, after the fault. */
  readonly firstSuccessorAckMs: number | undefined;
  /** Last acknowledgement by the victim before its database was started anew. */
  readonly lastVictimAckMs: number | undefined;
  /** Longest gap between two outside acknowledgements after the fault; null without it or outside writers. */
  readonly downtimeMs: number | null;
  /** Another node than the victim answered an outside client until the writers were stopped. */
  readonly successorServesOn: boolean;
}

/** Longer than a busy database lets a client wait. */
const silenceMs = 10_000;

/** Fed the operations in time order, one pass, constant memory. */
export class ServiceMeter {
  readonly #window: ServiceWindow;
  readonly #nodes = new Map<string, string>();
  #acked = 0;
  #firstSuccessorAckMs: number | undefined;
  #lastVictimAckMs: number | undefined;
  #lastOutsideAckMs: number | undefined;
  #lastOutsideSuccessorAckMs = Number.NEGATIVE_INFINITY;
  #downtimeMs = 0;

  constructor(window: ServiceWindow) {
    this.#window = window;
  }

  see(record: SessionRecord | OutcomeRecord): void {
    if (record.type === 'session') {
      if (record.server !== undefined) this.#nodes.set(sessionKey(record), record.server.node);
    } else if (record.outcome === 'ok') {
      this.#ack(record.t, record.client, this.#nodes.get(sessionKey(record)));
    }
  }

  #ack(t: number, client: string, node: string | undefined): void {
    const { faultAtMs, victimNode } = this.#window;
    this.#acked += 1;
    if (node === victimNode) this.#lastVictimAckMs = t;
    else if (faultAtMs !== undefined && t >= faultAtMs) this.#firstSuccessorAckMs ??= t;
    if (client !== 'outside') return;
    if (node !== undefined && node !== victimNode) this.#lastOutsideSuccessorAckMs = t;
    this.#gapUntil(t);
    this.#lastOutsideAckMs = t;
  }

  #gapUntil(t: number): void {
    const { faultAtMs } = this.#window;
    if (this.#lastOutsideAckMs === undefined || faultAtMs === undefined || t < faultAtMs) return;
    this.#downtimeMs = Math.max(this.#downtimeMs, t - this.#lastOutsideAckMs);
  }

  result(): Service {
    const { faultAtMs, endAtMs } = this.#window;
    const isKnown = faultAtMs !== undefined && this.#lastOutsideAckMs !== undefined;
    if (isKnown) this.#gapUntil(endAtMs);
    return {
      acked: this.#acked,
      firstSuccessorAckMs: this.#firstSuccessorAckMs,
      lastVictimAckMs: this.#lastVictimAckMs,
      downtimeMs: isKnown ? Math.round(this.#downtimeMs) : null,
      successorServesOn: endAtMs - this.#lastOutsideSuccessorAckMs <= silenceMs,
    };
  }
}
