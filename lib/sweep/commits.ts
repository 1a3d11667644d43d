/**
 * Commits of a schedule. A client asks every server that serves for one now and then, often around a
 * hand-over; a copy of the volume is asked which of the acknowledged ones it still has.
 */
import { type Model, type ModelServer, msUs, secondUs, type Timer } from '../sim/index.ts';
import type { LedgerEntry } from '../history/index.ts';
import type { TraceRecorder } from './trace-recorder.ts';
import type { Scenario } from '../scenario/index.ts';

interface AcknowledgedCommit {
  readonly entry: LedgerEntry;
  readonly isVictims: boolean;
  readonly atUs: number;
}

/** What one copy of the volume had lost of what it must hold. */
export interface CopyLoss {
  readonly acked: number;
  readonly byVictimBefore: number;
  readonly byVictimAfter: number;
  readonly bySuccessor: number;
  /** No server starts on it: nothing of it can be read. */
  readonly unreadable: boolean;
}

export const lostInCopy = ({ byVictimBefore, byVictimAfter, bySuccessor }: CopyLoss): number =>
  byVictimBefore + byVictimAfter + bySuccessor;

/** Row without what nobody reads of a sweep's: all but the number. */
const blank: Omit<LedgerEntry, 'seq'> = {
  ...{ client: 'sweep', connection: 0, session: 0, kind: 'append' },
  ...{ fromAccount: 0, toAccount: 0, amount: 0, previousHash: '', hash: '' },
};

export class Commits {
  readonly #model: Model;
  readonly #victim: string;
  readonly #acked: AcknowledgedCommit[] = [];
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

  #ask(server: ModelServer): void {
    const entry: LedgerEntry = { ...blank, seq: this.#seq++ };
    server.commit(entry, (done) => {
      if (done) this.#acknowledge(entry, server.machine.name === this.#victim);
    });
  }

  /**
   * Loss that a copy of the volume would show now. What a living server need not have
   * flushed yet is not missed.
   */
  lossNow(handoverAtUs: number): CopyLoss {
    const { volume, world, kernel } = this.#model;
    const heldBackMs = world.database.durability.heldBackMs(world.of(volume.index));
    const mustHoldUntilUs = kernel.nowUs - heldBackMs * msUs;
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

/**
 * The client of a schedule: rarely heard while nothing moves, at once at the hand-over, and often from
 * then on until a database serves for good. So a schedule has some hundred commits, whatever its rate is.
 */
const beatUs = { calm: 30 * secondUs, busy: secondUs / 4 };
/** A busy client commits so often while the successor recovers: enough to break that. */
const burst = { commits: 40, forUs: 6 * secondUs };
const busyRate = 100;

interface SweepClientOptions {
  readonly model: Model;
  readonly scenario: Scenario;
  readonly witness: TraceRecorder;
  readonly commits: Commits;
}

export class SweepClient {
  readonly #options: SweepClientOptions;
  readonly #isBusy: boolean;
  readonly #beatAgain = (): void => this.#beat();
  #next: Timer | undefined;
  /** The schedule is over but for what may still come of it. */
  isSettled = false;

  constructor(options: SweepClientOptions) {
    this.#options = options;
    const { rate } = options.scenario;
    this.#isBusy = rate === 'max' || rate >= busyRate;
    if (rate === 0) return;
    // Else the victim is asked again up to 30 s into an overlap that may be shorter than that.
    options.witness.onSecondMount = this.#beatNow.bind(this);
    this.#beat();
  }

  #beatNow(): void {
    this.#options.model.kernel.cancel(this.#next);
    this.#beat();
  }

  #beat(): void {
    const { model, witness, commits } = this.#options;
    const { kernel } = model;
    const sinceUs = kernel.nowUs - (witness.secondMountAtUs ?? Infinity);
    commits.ask(this.#isBusy && sinceUs >= 0 && sinceUs < burst.forUs ? burst.commits : 1);
    const isCalm = this.isSettled || sinceUs < 0;
    this.#next = kernel.schedule(isCalm ? beatUs.calm : beatUs.busy, this.#beatAgain);
  }
}
