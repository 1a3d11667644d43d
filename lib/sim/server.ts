/** A database server on a mounted volume, and the container that starts it, and starts it again when it dies. */
import type { LedgerEntry, OpId } from '../history/index.ts';
import type { Mount, OnWritten } from './disk/mount.ts';
import { OnNode, type NodeContext } from './machine.ts';
import { notices, type NoticeCode, logOf, upOf } from './sightings.ts';
import { measuredTimes, secondUs, type DurationRange, kubernetesTimes } from './timings.ts';
import { type VolumeSettings, draw } from './world.ts';

/** Called once with true when the commit is acknowledged, false when the server went away. */
type CommitAnswer = (acknowledged: boolean) => void;

interface ServerEvents {
  readonly onServing: () => void;
  /** It died by itself. */
  readonly onDeath: () => void;
}

export class ModelServer extends OnNode {
  readonly podUid: string;
  readonly startedAtUs = this.nowUs;
  readonly #mount: Mount;
  readonly #events: ServerEvents;
  readonly #settings: VolumeSettings;
  readonly #pending = new Set<CommitAnswer>();
  /** Commits that trx_commit=0 keeps in the server's own memory until the next flush. */
  #unwritten: LedgerEntry[] = [];
  #state: 'starting' | 'serving' | 'ended' = 'starting';
  #servesSinceUs = 0;
  /** A flush is due, or waits for the disk. */
  #flushes = false;
  /** It has the lock on its files. */
  #hasOpened = false;

  constructor(on: NodeContext, mount: Mount, podUid: string, events: ServerEvents) {
    super(on);
    this.#mount = mount;
    this.podUid = podUid;
    this.#events = events;
    this.#settings = this.world.of(mount.volume.index);
    this.#open();
  }

  get serving(): boolean {
    return this.#state === 'serving';
  }

  commit(entry: LedgerEntry, answer: CommitAnswer): void {
    this.#serve(measuredTimes.commit, answer, () => {
      const { database } = this.#settings;
      if (database.trxCommit === 0) this.#unwritten.push(entry);
      else this.#mount.append(entry);
      if (database.trxCommit === 1) return this.#syncFor(answer);
      this.#acknowledge(answer);
      this.#flushSoon();
    });
  }

  /** On the disk before it is acknowledged, whatever commits are: DDL has a log of its own. */
  changeSchema(answer: CommitAnswer): void {
    this.#serve(measuredTimes.schemaChange, answer, () => {
      this.#mount.changeSchema();
      this.#syncFor(answer);
    });
  }

  /** Where it serves, and still does when that is done. */
  #serve(range: DurationRange, answer: CommitAnswer, work: () => void): void {
    if (this.#state !== 'serving') return answer(false);
    this.#pending.add(answer);
    this.#later(range, () => {
      if (this.#state === 'serving') work();
    });
  }

  /** From its own buffers: a server that was cut off or replaced goes on answering. */
  read(answer: (row: OpId | undefined) => void, gone: () => void): void {
    if (this.#state === 'serving') answer(this.#newestVisible());
    else gone();
  }

  /** A group commit shows its rows to others after its binary log is synced, where it is. */
  #newestVisible(): LedgerEntry | undefined {
    if (this.#settings.database.trxCommit === 1) return this.#mount.newestDurable;
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
          if (written) this.#log('Note', this.world.database.log.signs.stopped);
          this.#see(notices.serverStopped);
          ended();
        }),
      );
    });
  }

  kill(): void {
    this.#end();
  }

  /** Files that another server has locked are waited for; what is on them then is read. */
  #open(): void {
    if (this.#state !== 'starting') return;
    const mount = this.#mount;
    if (!mount.lock(this)) {
      this.#log('ERROR', this.world.database.log.modelled.locked);
      this.#later(measuredTimes.lockRetry, () => this.#open());
      return;
    }
    this.#hasOpened = true;
    this.#see(notices.serverStarting);
    // Bound: see docs/internals/sweep.md, Speed.
    mount.path.onCut = this.#failIo.bind(this);
    if (mount.volume.files !== undefined) mount.reread();
    const before = mount.foreignCommits;
    const { chance } = this.world;
    this.machine.after(chance.soonWithin(measuredTimes.serverStart), () => this.#recovered(before));
  }

  #recovered(foreignBefore: number): void {
    if (this.#state !== 'starting') return;
    const { volume, takesWrites, foreignCommits } = this.#mount;
    // What it recovered does not reach the volume, and so breaks nothing.
    if (!takesWrites) return this.#die('the file system takes no writes (model)');
    volume.damage ??= volume.twoWriters.recover(foreignCommits - foreignBefore);
    if (volume.damage !== undefined) return this.#die(volume.damage);
    this.#state = 'serving';
    this.#mount.begin();
    this.#see(notices.serving);
    this.#log('System', this.world.database.log.modelled.recovered);
    this.world.see?.(upOf(this.world, this.node.name, volume.index));
    this.#servesSinceUs = this.nowUs;
    this.#events.onServing();
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

  /** It flushes each second; where nothing is to be flushed, that is left out. */
  #flushSoon(): void {
    if (this.#flushes) return;
    this.#flushes = true;
    const nextUs = secondUs - ((this.nowUs - this.#servesSinceUs) % secondUs);
    this.machine.sleep(nextUs, () => {
      if (this.#state !== 'serving') return;
      this.#flush(() => {
        this.#flushes = false;
        if (this.#unwritten.length > 0 || this.#mount.dirty) this.#flushSoon();
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
    this.#see(notices.serverDied);
    this.#end();
    this.#events.onDeath();
  }

  #end(): void {
    this.#state = 'ended';
    // A server that waited for the lock leaves the other's alone.
    if (this.#hasOpened) this.#mount.path.onCut = undefined;
    this.#mount.unlock(this);
    for (const answer of this.#pending) answer(false);
    this.#pending.clear();
  }

  #see(code: NoticeCode): void {
    this.notice(code, this.#mount.volume.index);
  }

  #log(level: 'Note' | 'System' | 'ERROR', text: string): void {
    const { index } = this.#mount.volume;
    this.world.see?.(logOf(this.world, this.node.name, index, level, text));
  }

  #later(range: DurationRange, run: () => void): void {
    this.machine.after(draw(this.world, range), run);
  }
}

export class Container extends OnNode {
  readonly #mount: Mount;
  readonly #podUid: string;
  readonly #onChange: () => void;
  #server: ModelServer | undefined;
  #ready = false;
  #ended = false;
  #fenced = false;
  #probeForgotten = false;
  #backOffUs = 0;

  constructor(on: NodeContext, mount: Mount, podUid: string, onChange: () => void) {
    super(on);
    this.#mount = mount;
    this.#podUid = podUid;
    this.#onChange = onChange;
    this.#startAfter(0);
  }

  get ready(): boolean {
    return this.#ready;
  }

  get running(): boolean {
    return this.#server !== undefined;
  }

  /** The server, while clients can connect to it. */
  get server(): ModelServer | undefined {
    return this.#server?.serving === true ? this.#server : undefined;
  }

  /** Its kubelet starts anew and knows no probe's result. */
  forgetProbe(): void {
    if (!this.#ready) return;
    this.#ready = false;
    this.#probeForgotten = true;
  }

  /** Its kubelet looks after it again: the first probe comes within one period (prober/worker.go run). */
  probeAgain(): void {
    if (!this.#probeForgotten) return;
    this.#probeForgotten = false;
    this.#readyAfter(draw(this.world, kubernetesTimes.probeAgain));
  }

  /** SIGTERM; the machine ends what does not stop within the grace period. */
  stop(done: () => void): void {
    this.#ended = true;
    this.#ready = false;
    if (this.#server === undefined) done();
    else this.#server.stop(done);
  }

  kill(): void {
    this.#ended = true;
    this.#ready = false;
    this.#server?.kill();
  }

  /** SIGKILL by somebody else: its kubelet starts it again. False where no server was there. */
  killServer(): boolean {
    if (this.#server === undefined) return false;
    this.#server.kill();
    this.notice(notices.serverDied, this.#mount.volume.index);
    this.#restart();
    return true;
  }

  /** SIGKILL by a sidecar, which keeps it down until `unfence`. `onReadOnly`: it takes the file system away too. */
  fence(onReadOnly: (() => void) | undefined): void {
    this.#fenced = true;
    this.#server?.kill();
    if (onReadOnly !== undefined) this.#mount.remountReadOnly(onReadOnly);
    this.#gone();
  }

  unfence(): void {
    if (!this.#fenced) return;
    this.#fenced = false;
    this.#mount.remountWritable();
    this.#startAfter(0);
  }

  #gone(): void {
    this.#server = undefined;
    this.#ready = false;
    this.#onChange();
  }

  #startAfter(delayUs: number): void {
    const startUs = this.world.chance.soonWithin(measuredTimes.containerStart);
    this.machine.byRuntime(delayUs + startUs, () => {
      if (this.#ended || this.#fenced || this.#server !== undefined) return;
      this.#server = new ModelServer(this, this.#mount, this.#podUid, {
        onServing: () => this.#readyAfter(draw(this.world, measuredTimes.readiness)),
        onDeath: () => this.#restart(),
      });
      this.#onChange();
    });
  }

  #readyAfter(delayUs: number): void {
    const server = this.#server;
    this.machine.byKubelet(delayUs, () => {
      if (this.#ended || this.#server !== server || server?.serving !== true) return;
      this.#ready = true;
      this.#onChange();
    });
  }

  /** The first restart is at once, then 10 s, 20 s … 5 min (kubelet.go). */
  #restart(): void {
    this.#gone();
    if (this.#ended) return;
    if (this.#backOffUs > 0) this.#tellBackOff();
    const { crashBackOffUs, crashBackOffMaxUs } = kubernetesTimes;
    this.#startAfter(this.#backOffUs);
    this.#backOffUs = Math.min(crashBackOffMaxUs, Math.max(crashBackOffUs, this.#backOffUs * 2));
  }

  /** From the second death on its kubelet waits, and says so where it is heard. */
  #tellBackOff(): void {
    const { see, api, database } = this.world;
    const pod = api.podWithUid(this.#podUid);
    if (see === undefined || pod === undefined || !this.machine.hearsApi) return;
    api.event(pod, 'kubelet', 'BackOff', `Back-off restarting failed container ${database.name}`);
  }
}
