/** A database server on a mounted volume: it recovers, commits, stops cleanly or dies. */
import { observed } from '../../history/observations.ts';
import type { LedgerEntry } from '../../workload/sql.ts';
import type { Mount } from './disk/mount.ts';
import type { NodeMachine } from './machine.ts';
import { commitsThatBreakRecovery, measuredTimes, secondUs } from './timings.ts';
import { draw, type World } from './world.ts';

/** Called once with true when the commit is acknowledged, false when the server went away. */
export type CommitAnswer = (acknowledged: boolean) => void;

export interface ServerEvents {
  readonly onServing: () => void;
  /** It died by itself. */
  readonly onDeath: () => void;
}

export class Server {
  readonly machine: NodeMachine;
  readonly podUid: string;
  /** Virtual time of its start. */
  readonly startedAtUs: number;
  readonly #world: World;
  readonly #mount: Mount;
  readonly #events: ServerEvents;
  readonly #pending = new Set<CommitAnswer>();
  /** Commits that trx_commit=0 keeps in the server's own memory until the next flush. */
  #unwritten: LedgerEntry[] = [];
  #state: 'starting' | 'serving' | 'ended' = 'starting';

  constructor(
    world: World,
    machine: NodeMachine,
    mount: Mount,
    podUid: string,
    events: ServerEvents,
  ) {
    this.#world = world;
    this.machine = machine;
    this.#mount = mount;
    this.podUid = podUid;
    this.#events = events;
    this.startedAtUs = world.kernel.nowUs;
    mount.path.onCut = () => this.#later(measuredTimes.serverDeath, () => this.#failIo());
    const before = mount.foreignCommits;
    this.#later(measuredTimes.serverStart, () => this.#recovered(before));
  }

  get serving(): boolean {
    return this.#state === 'serving';
  }

  commit(entry: LedgerEntry, answer: CommitAnswer): void {
    if (this.#state !== 'serving') {
      answer(false);
      return;
    }
    this.#pending.add(answer);
    this.#later(measuredTimes.commit, () => {
      // Without an answer the client learns of the server's end when that comes.
      if (this.#state !== 'serving' || !this.#write(entry)) return;
      this.#pending.delete(answer);
      answer(true);
    });
  }

  /** SIGTERM: a clean shutdown, which writes back all that the server holds. */
  stop(done: () => void): void {
    this.#later(measuredTimes.serverStop, () => {
      if (this.#state === 'serving') {
        this.#flush();
        this.#mount.writeBack();
        this.#log('Note', 'Shutdown complete');
      }
      this.#end();
      done();
    });
  }

  /** SIGKILL, or the end of its machine. */
  kill(): void {
    this.#end();
  }

  #recovered(foreignBefore: number): void {
    if (this.#state !== 'starting') return;
    const { volume, path, foreignCommits } = this.#mount;
    if (foreignCommits - foreignBefore > commitsThatBreakRecovery) {
      volume.damage ??=
        'the redo log changed under recovery: log sequence number is in the future (model)';
    }
    if (path.cut) return this.#failIo();
    if (volume.damage !== undefined) return this.#die(volume.damage);
    this.#state = 'serving';
    this.#log('Note', 'ready for connections');
    if (this.#world.settings.trxCommit !== 1) this.#flushEachSecond();
    this.#events.onServing();
  }

  /** False where the disk refused. */
  #write(entry: LedgerEntry): boolean {
    const { trxCommit } = this.#world.settings;
    if (trxCommit === 0) this.#unwritten.push(entry);
    else this.#mount.append(entry);
    return trxCommit === 1 ? this.#mount.sync() : true;
  }

  #flushEachSecond(): void {
    this.#after(secondUs, () => {
      if (this.#state !== 'serving') return;
      this.#flush();
      this.#flushEachSecond();
    });
  }

  #flush(): void {
    for (const entry of this.#unwritten) this.#mount.append(entry);
    this.#unwritten = [];
    this.#mount.sync();
  }

  #failIo(): void {
    this.#die('fsync() returned EIO, aborting (model)');
  }

  #die(why: string): void {
    if (this.#state === 'ended') return;
    this.#log('ERROR', why);
    this.#end();
    this.#events.onDeath();
  }

  #end(): void {
    this.#state = 'ended';
    this.#mount.path.onCut = undefined;
    for (const answer of this.#pending) answer(false);
    this.#pending.clear();
  }

  #log(level: 'Note' | 'ERROR', text: string): void {
    this.#world.see({
      source: 'mysqld',
      name: observed.serverLog,
      node: this.machine.name,
      data: { line: `[${level}] ${text}`, level },
    });
  }

  #later(range: Parameters<typeof draw>[1], run: () => void): void {
    this.#after(draw(this.#world, range), run);
  }

  #after(delayUs: number, run: () => void): void {
    this.machine.after(delayUs, run);
  }
}
