/** One trial: two writers, a fault, a revocation, a second attach, the heal, and what became of every write. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, waitFor } from '../../lib/core/index.ts';
import { type Lab, labNode } from '../../lib/kind/index.ts';
import { cells, type Cell, type Planned } from './cells.ts';
import type { StorageLab } from './lab.ts';
import { type Evidence, lastMs, type Marks } from './outcome.ts';
import { arrayStorage, type TrialStorage } from './storage.ts';
import {
  afterReboot,
  blockBytes,
  type NodeName,
  nodes,
  sharedBlock,
  type Token,
  tokenIn,
} from './token.ts';

/** Between two writes of a writer. */
export const everyMs = 50;
const leadMs = 3000;
/** From the fault to the revocation. */
const faultMs = 2000;
/** After the heal, or the second node's first acknowledgement. */
const watchMs = 30_000;
/** The second node writes so long before the first one's way is given back, or its initiator killed. */
const turnMs = 5000;
const lateAnswerMs = 60_000;
const givenBackMs = 20_000;
const rebootMs = 10_000;
const idleMs = 5000;
/** kubelet tries again, too. */
const attachAgainMs = 2000;
/** Waits no longer for the second node's first acknowledgement: librbd breaks a lock after 30 s. */
const takeOverMs = 40_000;

/** The daemon's errors begin with its whole command line. */
const shortened = (error: unknown): string =>
  describeError(error).split('\n')[0]?.split(': ').slice(-2).join(': ') ?? '';

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Microseconds in which some task of the machine waited for a processor. */
const cpuWaitedUs = (): number =>
  Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1]);

class Writer {
  readonly lines: string[] = [];
  readonly #stream: ReturnType<Lab['stream']>;

  constructor(lab: StorageLab, node: NodeName, first = 1) {
    const words = [`/dev/loop${lab.loopOf(node)}`, node, String(everyMs), String(first)];
    const argv = [...labNode, '/app/research/real-storage/writer.ts', ...words];
    this.#stream = lab.node(node).stream(argv, (line) => void this.lines.push(line));
    this.#stream.catch(() => undefined);
  }

  async does(what: 'write' | 'idle' | 'end'): Promise<void> {
    (await this.#stream).write(what);
  }

  get hasAck(): boolean {
    return this.lines.some((line) => line.startsWith('done '));
  }

  get waits(): boolean {
    return (
      this.lines.findLast((line) => /^(asks|done|fails)/.test(line))?.startsWith('asks') === true
    );
  }

  /** What hangs must have been ended. */
  async dispose(): Promise<void> {
    await (await this.#stream)[Symbol.asyncDispose]();
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class Trial {
  readonly #lab: StorageLab;
  readonly #storage: TrialStorage;
  readonly #cell: Cell;
  readonly #how: string;
  readonly #signal: AbortSignal | undefined;
  readonly #writers = new Map<'a' | 'b' | 'rebooted', Writer>();
  readonly #marks: Mutable<Marks> = { beganMs: 0, returnedMs: 0, attachMs: 0, endMs: 0 };
  #lateMs = 0;
  #over = false;
  #attaching: Promise<void> = Promise.resolve();
  #secondFailed: string | null = null;
  #failed: string | null = null;
  #opened: { opened: boolean; why: string | null } | undefined;

  constructor(
    lab: StorageLab,
    storage: TrialStorage,
    { cell, row }: Planned,
    signal: AbortSignal | undefined,
  ) {
    this.#signal = signal;
    this.#lab = lab;
    this.#storage = storage;
    this.#cell = cells[cell];
    this.#how = row.revocation;
  }

  async perform(): Promise<Evidence> {
    const { load, victim, faultS, after } = this.#cell;
    const [startMs, waitedUs] = [nowMs(), cpuWaitedUs()];
    await this.#storage.attach('a');
    const a = this.#start('a');
    const wait = { what: 'the first node writes', timeoutMs: 60_000, signal: this.#signal };
    await waitFor(wait, () => Promise.resolve(a.hasAck || 'nothing yet'));
    await this.#pause(leadMs);
    if (load === 'idle') await a.does('idle');
    if (victim === 'cut-off') await this.#lab.cut('a');
    if (victim === 'frozen') await this.#lab.freeze('a');
    const brokenMs = nowMs();
    await this.#pause(faultMs);
    await this.#handOver();
    if (victim !== 'living') {
      await this.#pause(brokenMs + faultS * 1000 - nowMs());
      await this.#heal();
    }
    if (after === 'give-back') await this.#giveBack();
    else if (after === 'reboot') await this.#reboot();
    else await this.#watch();
    this.#marks.endMs = nowMs();
    this.#over = true;
    await this.#attaching;
    for (const writer of this.#writers.values()) await writer.does('end').catch(() => undefined);
    await this.#pause(500);
    const { image, landed } = await this.#storage.end();
    for (const writer of this.#writers.values()) await writer.dispose();
    const cpuPressure = (cpuWaitedUs() - waitedUs) / 1000 / (nowMs() - startMs);
    return this.#evidence({ image, landed, cpuPressure });
  }

  /** Ends what is left of a trial that failed. */
  async abandon(): Promise<void> {
    this.#over = true;
    await this.#lab.stop();
    for (const writer of this.#writers.values()) await writer.dispose().catch(() => undefined);
    for (const node of nodes) await this.#lab.freeLoop(node);
  }

  #start(name: 'a' | 'b' | 'rebooted'): Writer {
    const [node, first] = name === 'rebooted' ? (['a', afterReboot] as const) : [name, 1];
    const writer = new Writer(this.#lab, node, first);
    this.#writers.set(name, writer);
    return writer;
  }

  async #pause(ms: number): Promise<void> {
    const dueMs = nowMs() + Math.max(0, ms);
    await sleep(Math.max(0, ms), undefined, { signal: this.#signal });
    this.#lateMs = Math.max(this.#lateMs, nowMs() - dueMs);
  }

  /** Longer where no answer comes: an error that takes its time is no hang. */
  async #watch(): Promise<void> {
    await this.#pause(watchMs);
    const waits = (): boolean => this.#writers.get('a')?.waits === true;
    const limitMs = nowMs() + lateAnswerMs;
    while (waits() && nowMs() < limitMs) await this.#pause(1000);
    await this.#pause(lastMs);
  }

  async #handOver(): Promise<void> {
    const { revoke } = this.#cell;
    if (revoke === 'before') await this.#revoke();
    this.#marks.attachMs = nowMs();
    this.#attaching = this.#attachSecond();
    if (revoke === 'at') await this.#revoke();
    await this.#secondWrites();
    if (revoke === 'after') await this.#revoke();
  }

  async #revoke(): Promise<void> {
    if (this.#how === 'none') return;
    this.#marks.beganMs = nowMs();
    try {
      await this.#storage.revoke(this.#how);
    } catch (error) {
      this.#failed = shortened(error);
    }
    this.#marks.returnedMs = nowMs();
  }

  async #attachSecond(): Promise<void> {
    while (!this.#over) {
      try {
        await this.#storage.attach('b');
        this.#marks.attachedMs = nowMs();
        this.#start('b');
        return;
      } catch (error) {
        this.#secondFailed = shortened(error);
        await sleep(attachAgainMs);
      }
    }
  }

  async #secondWrites(): Promise<void> {
    const limitMs = nowMs() + takeOverMs;
    while (this.#writers.get('b')?.hasAck !== true && nowMs() < limitMs) {
      await this.#pause(100);
    }
    await this.#pause(1000);
  }

  async #heal(): Promise<void> {
    this.#marks.healMs = nowMs();
    if (this.#cell.victim === 'frozen') await this.#lab.thaw('a');
    else await this.#lab.heal('a');
    if (this.#cell.load !== 'idle') return;
    await this.#pause(idleMs);
    await this.#writers.get('a')?.does('write');
  }

  async #giveBack(): Promise<void> {
    await this.#pause(turnMs);
    await this.#writers.get('b')?.does('end');
    await this.#pause(500);
    await this.#storage.detach('b');
    this.#marks.givenBackMs = nowMs();
    try {
      await this.#storage.giveBack(this.#how);
    } catch (error) {
      this.#failed = shortened(error);
    }
    await this.#pause(givenBackMs);
  }

  async #reboot(): Promise<void> {
    await this.#pause(turnMs);
    await this.#lab.killInitiator('a');
    this.#marks.rebootMs = nowMs();
    await this.#writers.get('a')?.does('end');
    await this.#pause(1000);
    await this.#lab.freeLoop('a');
    await this.#lab.startInitiator('a');
    try {
      await this.#storage.connectAgain('a');
      this.#opened = { opened: true, why: null };
      this.#start('rebooted');
    } catch (error) {
      this.#opened = { opened: false, why: shortened(error) };
    }
    await this.#pause(rebootMs);
  }

  #evidence({
    image,
    ...end
  }: Awaited<ReturnType<TrialStorage['end']>> & { readonly cpuPressure: number }): Evidence {
    const linesOf = (name: 'a' | 'b' | 'rebooted'): readonly string[] =>
      this.#writers.get(name)?.lines ?? [];
    const blockAt = (_: unknown, number: number): Token | null =>
      tokenIn(image.subarray(number * blockBytes, (number + 1) * blockBytes)) ?? null;
    return {
      ...end,
      marks: this.#marks,
      lines: { a: linesOf('a'), b: linesOf('b'), rebooted: linesOf('rebooted') },
      blocks: Array.from({ length: sharedBlock + 1 }, blockAt),
      opened: this.#opened,
      failed: this.#failed,
      secondFailed: this.#secondFailed,
      lateMs: this.#lateMs,
      frozen: this.#cell.victim === 'frozen',
    };
  }
}

/** The array refuses for good what it cut: no trial has the volume of one before. */
let volumes = 0;

/** Rejects where the machinery fails; the lab's containers are gone then. */
export async function runTrial(
  lab: StorageLab,
  planned: Planned,
  signal?: AbortSignal,
): Promise<Evidence> {
  const { transport } = planned.row;
  await lab.serve(transport);
  volumes += 1;
  const volume = `trial-${volumes}`;
  const storage = await arrayStorage(lab, volume, transport);
  const trial = new Trial(lab, storage, planned, signal);
  try {
    return await trial.perform();
  } catch (error) {
    await trial.abandon();
    throw error;
  }
}
