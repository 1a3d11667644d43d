/**
 * What two servers on one volume do to its structure, beyond overwriting each other's rows. Each
 * writes pages of trees that it alone knows. How soon that breaks a tree was measured, not derived:
 * so it is drawn from what runs on kind, on loop devices and in virtual machines showed.
 */
import type { Chance } from '../chance.ts';
import { msUs, secondUs, type DurationRange } from '../timings.ts';

/**
 * Joint writing until a tree is broken. Rows alone were lost after 5.4 s of it (1 run); a tree was
 * broken by 21.6 s and later in 12 of 12 (docs/reference/disk-modes.md, docs/reference/workloads.md).
 */
const breaksAfter: DurationRange = { minUs: 4 * secondUs, maxUs: 22 * secondUs };

/** Two servers that commit within this time of each other write jointly; assumption. */
const jointWithinUs = 2000 * msUs;

/**
 * A replaced server that still writes back: beside a running successor it broke a tree in 12 of 13
 * runs; after a successor that had stopped cleanly in 3 of 7, otherwise it silently took all rows
 * of the successor (research/two-kernels, cases `idle-…` and `zombie`, and loop devices before them).
 */
const writeBackBreaks = { besideSuccessor: 12 / 13, afterSuccessor: 3 / 7 } as const;

/**
 * A server that recovers beside one that commits reads pages that were written after the end of its
 * redo log (MY-012562, MY-011971): whether they are pages that it cannot go on without (undo, an index
 * half written) is a race with the other's page cleaner. It lost 15 of 41: 3 of 9 at 1 commit a second,
 * 12 of 32 at 2 or 25, at any age of the victim, whatever it wrote meanwhile (2.4 to 15 MiB); none
 * of the 15 committed again (reports/matrix, reports/samples, reports/boundary). Not counted and alike:
 * 4 of 8 that wrote, 0 of 25 that did not (research/two-kernels). Beyond so many commits during one
 * recovery it never started: at 1,300 a second; where between that ends is not known.
 */
const recovery = { breaks: 15 / 41, alwaysBeyond: 500 } as const;

export class TwoWriters {
  readonly #chance: Chance;
  readonly #breaksAfterUs: number;
  /** When each writer committed last. */
  readonly #lastUs = new Map<object, number>();
  #lastOfAllUs = 0;
  #jointUs = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#breaksAfterUs = chance.within(breaksAfter);
  }

  /** A commit reached the disk. Returns what it broke. */
  commit(writer: object, nowUs: number): string | undefined {
    for (const [other, atUs] of this.#lastUs) {
      if (other !== writer && nowUs - atUs <= jointWithinUs) {
        this.#jointUs += nowUs - this.#lastOfAllUs;
        break;
      }
    }
    this.#lastUs.set(writer, nowUs);
    this.#lastOfAllUs = nowUs;
    if (this.#jointUs <= this.#breaksAfterUs) return undefined;
    return 'Corruption of an index tree: its pages are of two servers (model)';
  }

  /** A server has recovered while others committed so much. Returns what of it can't be read. */
  recover(foreignCommits: number): string | undefined {
    if (foreignCommits === 0) return undefined;
    const isRaced = foreignCommits <= recovery.alwaysBeyond;
    if (isRaced && this.#chance.float() >= recovery.breaks) return undefined;
    return 'the redo log changed under recovery: log sequence number is in the future (model)';
  }

  /** A replaced writer put all its pages on the disk. Returns what that broke. */
  writeBack(successor: 'beside' | 'gone'): string | undefined {
    const { besideSuccessor, afterSuccessor } = writeBackBreaks;
    const likely = successor === 'beside' ? besideSuccessor : afterSuccessor;
    if (this.#chance.float() >= likely) return undefined;
    return 'log sequence number is in the future: pages of a replaced server (model)';
  }
}
