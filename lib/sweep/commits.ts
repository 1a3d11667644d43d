/**
 * Commits of a schedule. A client asks every server that serves for one now and then, often around a
 * hand-over; a copy of the volume is asked which of the acknowledged ones it still has.
 */
import type { Model } from '../cluster/sim/model.ts';
import type { Server } from '../cluster/sim/server.ts';
import { secondUs } from '../cluster/sim/timings.ts';
import type { LedgerEntry } from '../workload/sql.ts';

interface Acknowledged {
  readonly entry: LedgerEntry;
  readonly isVictims: boolean;
  readonly atUs: number;
}

/** What one copy of the volume had lost of what it must hold. */
export interface Loss {
  readonly acked: number;
  readonly byVictimBefore: number;
  readonly byVictimAfter: number;
  readonly bySuccessor: number;
  /** No server starts on it: nothing of it can be read. */
  readonly unreadable: boolean;
}

export const lostIn = ({ byVictimBefore, byVictimAfter, bySuccessor }: Loss): number =>
  byVictimBefore + byVictimAfter + bySuccessor;

/** Of a sweep's rows nobody reads more than the number. */
const blank: Omit<LedgerEntry, 'seq'> = {
  ...{ client: 'sweep', connection: 0, session: 0, kind: 'append' },
  ...{ fromAccount: 0, toAccount: 0, amount: 0, previousHash: '', hash: '' },
};
/** As the runner: with trx_commit 0 or 2 the log is synced once a second only. */
const flushPeriodUs = 2 * secondUs;

export class Commits {
  readonly #model: Model;
  readonly #victim: string;
  readonly #acked: Acknowledged[] = [];
  #seq = 0;
  /** Acknowledged by servers on other nodes than the victim. */
  bySuccessors = 0;

  constructor(model: Model, victim: string) {
    this.#model = model;
    this.#victim = victim;
  }

  /** Asks each server that serves for so many commits. */
  ask(count: number): void {
    for (const kubelet of this.#model.kubelets) {
      const server = kubelet.container()?.server;
      if (server !== undefined) for (let n = 0; n < count; n++) this.#ask(server);
    }
  }

  #ask(server: Server): void {
    const entry: LedgerEntry = { ...blank, seq: this.#seq++ };
    server.commit(entry, (done) => {
      if (done) this.#acknowledge(entry, server.machine.name === this.#victim);
    });
  }

  /**
   * As a copy of the volume that is made now would show it. What a living server need not have
   * flushed yet is not missed.
   */
  lossNow(handoverAtUs: number): Loss {
    const { volume, world, kernel } = this.#model;
    const heldBackUs = world.settings.trxCommit === 1 ? 0 : flushPeriodUs;
    const mustHoldUntilUs = kernel.nowUs - heldBackUs;
    const unreadable = volume.damage !== undefined;
    const kept: boolean[] = [];
    for (const row of volume.rows) if (row !== undefined) kept[row.seq] = true;
    let [byVictimBefore, byVictimAfter, bySuccessor] = [0, 0, 0];
    for (const { entry, isVictims, atUs } of this.#acked) {
      if (atUs > mustHoldUntilUs || (kept[entry.seq] === true && !unreadable)) continue;
      if (!isVictims) bySuccessor += 1;
      else if (atUs < handoverAtUs) byVictimBefore += 1;
      else byVictimAfter += 1;
    }
    const acked = this.#acked.length;
    return { acked, byVictimBefore, byVictimAfter, bySuccessor, unreadable };
  }

  #acknowledge(entry: LedgerEntry, isVictims: boolean): void {
    if (!isVictims) this.bySuccessors += 1;
    this.#acked.push({ entry, isVictims, atUs: this.#model.kernel.nowUs });
  }
}
