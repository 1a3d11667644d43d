/** A database server on a mounted volume: it recovers, commits, stops cleanly or dies. */
import { database } from '../../database/chosen.ts';
import { observed } from '../../history/observations.ts';
import type { LedgerEntry, OpId } from '../../workload/sql.ts';
import type { Mount, OnWritten } from './disk/mount.ts';
import type { NodeMachine } from './machine.ts';
import { notices, type NoticeCode } from './notices.ts';
import type { VolumeSettings } from './settings.ts';
import { measuredTimes, secondUs } from './timings.ts';
import { draw, type World } from './world.ts';
import type { Sighting } from './api-watchers.ts';

/** Called once with true when the commit is acknowledged, false when the server went away. */
export type CommitAnswer = (acknowledged: boolean) => void;

export interface ServerEvents {
  readonly onServing: () => void;
  /** It died by itself. */
  readonly onDeath: () => void;
}

export class ModelServer {
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
  /** It has the lock on its files. */
  #hasOpened = false;

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
    this.#open();
  }

  get #settings(): VolumeSettings {
    return this.#world.of(this.#mount.volume.index);
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
      if (this.#state === 'serving') this.#write(entry, answer);
    });
  }

  /** On the disk before it is acknowledged, whatever commits are: DDL has a log of its own. */
  changeSchema(answer: CommitAnswer): void {
    if (this.#state !== 'serving') {
      answer(false);
      return;
    }
    this.#pending.add(answer);
    this.#later(measuredTimes.schemaChange, () => {
      if (this.#state !== 'serving') return;
      this.#mount.changeSchema();
      this.#syncFor(answer);
    });
  }

  /** From its own buffers: a server that was cut off or replaced goes on answering. */
  read(answer: (row: OpId | undefined) => void, gone: () => void): void {
    if (this.#state === 'serving') answer(this.#newestVisible());
    else gone();
  }

  /** A group commit shows its rows to others after its binary log is synced, where it is. */
  #newestVisible(): LedgerEntry | undefined {
    if (this.#settings.trxCommit === 1) return this.#mount.newestDurable;
    return this.#unwritten.at(-1) ?? this.#mount.newest;
  }

  /** SIGTERM: a clean shutdown, which writes back all that the server holds. */
  stop(done: () => void): void {
    const ended = (): void => {
      this.#end();
      done();
    };
    this.#later(measuredTimes.serverStop, () => {
      if (this.#state !== 'serving') return ended();
      this.#flush(() =>
        this.#mount.writeBack((written) => {
          if (written) this.#log('Note', database.log.signs.stopped);
          this.#notice(notices.serverStopped);
          ended();
        }),
      );
    });
  }

  /** SIGKILL, or the end of its machine. */
  kill(): void {
    this.#end();
  }

  /** Files that another server has locked are waited for; what is on them then is read. */
  #open(): void {
    if (this.#state !== 'starting') return;
    const mount = this.#mount;
    if (!this.#lock()) {
      this.#log('ERROR', database.log.modelled.locked);
      this.#later(measuredTimes.lockRetry, () => this.#open());
      return;
    }
    this.#hasOpened = true;
    this.#notice(notices.serverStarting);
    // Bound: see docs/internals/sweep.md, Speed.
    mount.path.onCut = this.#failIo.bind(this);
    if (mount.volume.files !== undefined) mount.reread();
    const before = mount.foreignCommits;
    const { chance } = this.#world;
    this.machine.after(chance.soonWithin(measuredTimes.serverStart), () => this.#recovered(before));
  }

  /** Takes it of a shared directory, or of the kernel where the device is mounted. */
  #lock(): boolean {
    const { volume } = this.#mount;
    return volume.files === undefined ? this.#mount.lock(this) : volume.lock(this);
  }

  #recovered(foreignBefore: number): void {
    if (this.#state !== 'starting') return;
    const { volume, path, aborted, foreignCommits } = this.#mount;
    // What it recovered does not reach the volume, and so breaks nothing.
    if (path.cut || aborted) return this.#die('the file system takes no writes (model)');
    volume.damage ??= volume.twoWriters.recover(foreignCommits - foreignBefore);
    if (volume.damage !== undefined) return this.#die(volume.damage);
    this.#state = 'serving';
    this.#mount.begin();
    this.#notice(notices.serving);
    this.#log('System', database.log.modelled.recovered);
    this.#world.see?.(readySighting(this.machine.name, this.#mount.volume.index));
    if (this.#settings.trxCommit !== 1) this.#flushEachSecond();
    this.#events.onServing();
  }

  #write(entry: LedgerEntry, answer: CommitAnswer): void {
    const { trxCommit } = this.#settings;
    if (trxCommit === 0) this.#unwritten.push(entry);
    else this.#mount.append(entry);
    if (trxCommit === 1) this.#syncFor(answer);
    else this.#acknowledge(answer);
  }

  /** Where the sync fails, the client learns of the server's end when that comes. */
  #syncFor(answer: CommitAnswer): void {
    this.#mount.sync((done) => {
      if (done) this.#acknowledge(answer);
      else this.#failIo();
    });
  }

  #acknowledge(answer: CommitAnswer): void {
    if (this.#pending.delete(answer)) answer(true);
  }

  #flushEachSecond(): void {
    this.machine.after(secondUs, () => {
      if (this.#state !== 'serving') return;
      this.#flush((done) => {
        if (done) this.#flushEachSecond();
      });
    });
  }

  #flush(written: OnWritten): void {
    for (const entry of this.#unwritten) this.#mount.append(entry);
    this.#unwritten = [];
    this.#mount.sync((done) => {
      if (!done) this.#failIo();
      written(done);
    });
  }

  /** A server whose sync fails ends itself. */
  #failIo(): void {
    this.#later(measuredTimes.serverDeath, () =>
      this.#die('fsync() returned EIO, aborting (model)'),
    );
  }

  #die(why: string): void {
    if (this.#state === 'ended') return;
    this.#log('ERROR', why);
    this.#notice(notices.serverDied);
    this.#end();
    this.#events.onDeath();
  }

  #end(): void {
    this.#state = 'ended';
    const { volume } = this.#mount;
    // A server that waited for the lock leaves the other's alone.
    if (this.#hasOpened) this.#mount.path.onCut = undefined;
    this.#mount.unlock(this);
    volume.unlock(this);
    for (const answer of this.#pending) answer(false);
    this.#pending.clear();
  }

  #notice(code: NoticeCode): void {
    this.#world.notice(code, this.machine.index, this.#mount.volume.index);
  }

  #log(level: Level, text: string): void {
    const { index } = this.#mount.volume;
    this.#world.see?.(logSighting(this.machine.name, index, level, text));
  }

  #later(range: Parameters<typeof draw>[1], run: () => void): void {
    this.machine.after(draw(this.#world, range), run);
  }
}

type Level = 'Note' | 'System' | 'ERROR';

const logSighting = (node: string, volume: number, level: Level, text: string): Sighting => ({
  ...{ source: database.server, name: observed.serverLog, node, volume },
  data: { line: `[${level}] ${text}`, level },
});

/** What a server's log says when it is up. */
export const readySighting = (node: string, volume: number): Sighting =>
  logSighting(node, volume, 'Note', database.log.signs.ready);
