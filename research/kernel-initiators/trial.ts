/** One trial: two guests that write, a fault, a revocation, a second attach, the heal, and what each of them got. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, waitFor } from '../../lib/core/index.ts';
import type { Cell } from '../real-storage/cells.ts';
import { isAcked, type Journal, readJournal } from '../real-storage/journal.ts';
import type { Evidence, Landed, Marks } from '../real-storage/outcome.ts';
import { blockBytes, type NodeName, type Token, tokenIn } from '../real-storage/token.ts';
import type { LabGuest } from './lab.ts';
import type { Server } from './protocols/protocol.ts';

/** Between two writes of a writer. */
export const everyMs = 100;
const leadMs = 3000;
/** A busy machine emulates slowly. */
const firstWriteMs = 120_000;
/** From the fault to the revocation. */
const faultMs = 2000;
/** After the heal, or the second node's first acknowledgement. */
const watchMs = 30_000;
/** Who hangs then is watched on: open-iscsi gives up after 120 s. */
const hangMs = 150_000;
/** So long what came after all is watched. */
const afterHangMs = 8000;
/** The second node writes so long before the first one's way is given back. */
const turnMs = 5000;
const attachAgainMs = 2000;
/** Between two looks: each costs an emulated guest a shell. */
const pollMs = 2000;
/** Waits no longer for the second node's first acknowledgement: Ceph breaks a lock after 30 s. */
const takeOverMs = 45_000;

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const writerScript = readFileSync(new URL('writer.pl', import.meta.url), 'utf8');

/** Microseconds in which some task of the machine waited for a processor. */
const cpuWaitedUs = (): number =>
  Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1]);

class Writer {
  readonly #guest: LabGuest;
  /** This machine's clock is before the guest's by no less and no more: each look narrows it. */
  readonly #aheadMs = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };

  private constructor(guest: LabGuest) {
    this.#guest = guest;
  }

  static async start(guest: LabGuest, node: NodeName, device: string): Promise<Writer> {
    const words = `/run/writer.pl ${device} ${node} ${everyMs}`;
    await guest.sh(`cat >/run/writer.pl <<'END'
${writerScript}
END
      setsid perl ${words} </dev/null >/run/journal 2>/run/errors & echo $! >/run/pid`);
    return new Writer(guest);
  }

  /** Its journal so far, by this machine's clock. */
  async lines(): Promise<string[]> {
    const askedMs = nowMs();
    const [uptime, ...lines] = (await this.#guest.sh('cat /proc/uptime /run/journal')).split('\n');
    const guestMs = 1000 * Number(uptime?.split(' ')[0]);
    const { least, most } = this.#aheadMs;
    this.#aheadMs.least = Math.max(least, askedMs - guestMs);
    this.#aheadMs.most = Math.min(most, nowMs() - guestMs);
    const aheadMs = (this.#aheadMs.least + this.#aheadMs.most) / 2;
    return lines.filter(Boolean).map((line) => {
      const [word = '', first = '', time, ...more] = line.split(' ');
      return [word, first, (Number(time) + aheadMs).toFixed(1), ...more].join(' ');
    });
  }

  /** How wrong its times may be. */
  get unsureMs(): number {
    return (this.#aheadMs.most - this.#aheadMs.least) / 2;
  }

  async journal(): Promise<Journal> {
    return readJournal(await this.lines());
  }

  /** Resolves at its first acknowledgement. */
  async hasBegun(): Promise<void> {
    const options = { what: 'the first node writes', timeoutMs: firstWriteMs, everyMs: pollMs };
    await waitFor(options, async () => {
      if ((await this.journal()).asked.some(isAcked)) return true;
      return this.#guest.sh('cat /run/errors; dmesg | tail -n 5');
    });
  }

  /** It may have ended: a read-only device opens for nobody who writes. */
  async end(): Promise<void> {
    await this.#guest.sh('kill "$(cat /run/pid)" || true');
  }
}

interface TrialPlan {
  readonly cell: Cell;
  /** `none`: nobody revokes. */
  readonly how: string;
  readonly server: Server;
  /** Booted for this trial. */
  readonly a: LabGuest;
  readonly b: LabGuest;
  readonly onProgress: (line: string) => void;
}

type Written = { -readonly [Key in keyof Marks]: Marks[Key] };

class Trial {
  readonly #plan: TrialPlan;
  readonly #marks: Written = { beganMs: 0, returnedMs: 0, attachMs: 0, endMs: 0 };
  #second: Writer | undefined;
  #secondFailed: string | null = null;
  #failed: string | null = null;
  /** What was on the medium after the revocation, before the heal, before the return, and at the end. */
  readonly #images: { readonly atMs: number; readonly blocks: readonly (Token | null)[] }[] = [];
  #lateMs = 0;

  constructor(plan: TrialPlan) {
    this.#plan = plan;
  }

  async perform(): Promise<Evidence> {
    const { cell, server, a, b } = this.#plan;
    const [startMs, waitedUs] = [nowMs(), cpuWaitedUs()];
    await server.reset({ a, b });
    const first = await Writer.start(a, 'a', await server.attach(a));
    await first.hasBegun();
    await this.#pause(leadMs);
    if (cell.faultS > 0) await a.cut();
    const brokenMs = nowMs();
    await this.#pause(faultMs);
    await this.#revoke();
    await this.#attachSecond();
    if (cell.faultS > 0) await this.#heal(brokenMs + cell.faultS * 1000);
    if (cell.after === 'give-back') await this.#giveBack();
    await this.#watch(first);
    this.#marks.endMs = nowMs();
    await first.end();
    if (cell.after !== 'give-back') await this.#second?.end();
    await this.#pause(1000);
    await this.#look();
    const lines = { a: await first.lines(), b: (await this.#second?.lines()) ?? [], rebooted: [] };
    this.#lateMs = Math.max(this.#lateMs, first.unsureMs);
    return {
      ...{ lines, landed: this.#landed(readJournal(lines.a)), frozen: false },
      ...{ marks: this.#marks, failed: this.#failed, secondFailed: this.#secondFailed },
      blocks: this.#images.at(-1)?.blocks ?? [],
      lateMs: this.#lateMs,
      cpuPressure: (cpuWaitedUs() - waitedUs) / 1000 / (nowMs() - startMs),
    };
  }

  async #pause(ms: number): Promise<void> {
    const dueMs = nowMs() + Math.max(0, ms);
    await sleep(Math.max(0, ms));
    this.#lateMs = Math.max(this.#lateMs, nowMs() - dueMs);
  }

  async #does(what: string, act: () => Promise<void>): Promise<void> {
    this.#plan.onProgress(what);
    try {
      await act();
    } catch (error) {
      this.#failed = describeError(error);
    }
  }

  async #revoke(): Promise<void> {
    const { how, server } = this.#plan;
    if (how === 'none') return;
    this.#marks.beganMs = nowMs();
    await this.#does(`revokes: ${how}`, () => server.revoke(how));
    this.#marks.returnedMs = nowMs();
    await this.#look();
  }

  async #look(): Promise<void> {
    const image = await this.#plan.server.read();
    const blocks = Array.from({ length: image.length / blockBytes }, (_, number) =>
      tokenIn(image.subarray(number * blockBytes, (number + 1) * blockBytes)),
    );
    this.#images.push({ atMs: nowMs(), blocks: blocks.map((token) => token ?? null) });
  }

  /** What was acknowledged landed by then. What was not, and is there, landed since the look before. */
  #landed({ asked }: Journal): Landed[] {
    const acked = asked.filter(isAcked);
    const times = new Map(acked.map(({ seq, endedMs = 0 }) => [seq, endedMs]));
    for (const [index, { atMs, blocks }] of this.#images.entries()) {
      for (const token of blocks) {
        if (token?.node !== 'a' || times.has(token.seq)) continue;
        const askedMs = asked.find(({ seq }) => seq === token.seq)?.atMs ?? 0;
        times.set(token.seq, index === 0 ? askedMs : Math.min(atMs, this.#marks.endMs));
      }
    }
    return [...times]
      .map(([seq, atMs]) => ({ node: 'a' as const, atMs, token: { node: 'a' as const, seq } }))
      .toSorted((x, y) => x.atMs - y.atMs);
  }

  /** Resolves at its first acknowledgement. */
  async #attachSecond(): Promise<void> {
    const { server, b, onProgress } = this.#plan;
    onProgress('the second node attaches');
    this.#marks.attachMs = nowMs();
    const isInTime = (): boolean => nowMs() < this.#marks.attachMs + takeOverMs;
    while (this.#second === undefined && isInTime()) {
      try {
        const device = await server.attach(b);
        this.#marks.attachedMs = nowMs();
        this.#second = await Writer.start(b, 'b', device);
      } catch (error) {
        this.#secondFailed = describeError(error);
        await this.#pause(attachAgainMs);
      }
    }
    const hasAcked = async (): Promise<boolean> =>
      (await this.#second?.journal())?.asked.some(isAcked) ?? true;
    while (!(await hasAcked()) && isInTime()) await this.#pause(pollMs);
  }

  async #heal(atMs: number): Promise<void> {
    await this.#pause(atMs - nowMs());
    await this.#look();
    this.#plan.onProgress('heals');
    this.#marks.healMs = nowMs();
    await this.#plan.a.heal();
  }

  async #giveBack(): Promise<void> {
    const { how, server, b } = this.#plan;
    await this.#pause(turnMs);
    await this.#second?.end();
    await this.#pause(500);
    await this.#does('the second leaves', () => server.detach(b));
    await this.#look();
    this.#marks.givenBackMs = nowMs();
    await this.#does(`gives back: ${how}`, () => server.giveBack(how));
  }

  async #watch(first: Writer): Promise<void> {
    const fromMs = nowMs();
    await this.#pause(watchMs);
    const hangs = async (): Promise<boolean> => {
      const ended = (await first.journal()).asked.map(({ endedMs = 0 }) => endedMs);
      return Math.max(...ended) < nowMs() - watchMs / 2;
    };
    if (!(await hangs())) return;
    while (nowMs() < fromMs + hangMs && (await hangs())) await this.#pause(3000);
    await this.#pause(afterHangMs);
  }
}

/** Rejects where the machinery fails. */
export const performTrial = (plan: TrialPlan): Promise<Evidence> => new Trial(plan).perform();
