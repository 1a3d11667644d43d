/** What a cut leaves: raw, from which alone its answer follows. All times are of the probe's clock. */
import { z } from 'zod';
import type { Immutable } from '../../immutable.ts';
import { trialRecordSchema } from '../trials/record.ts';

/** Unix milliseconds. */
const ms = z.number();

/**
 * Record of a volume under the cut. `deleteAskedMs` is the remedy, or where nobody does anything when the
 * next pod was made; `watchEndedMs` is the end of the late writes.
 */
const volume = trialRecordSchema.extend({ storageClass: z.string() });
export type CutVolume = Immutable<z.output<typeof volume>>;

/** Whether the other node reached the node that is cut off. */
const look = z.object({ word: z.enum(['up', 'down']), atMs: ms });
export type ReachabilityLook = Immutable<z.output<typeof look>>;

export const cutRecordSchema = z.object({
  /** Unreachable and reachable again, in the rehearsal. */
  rehearsedMs: ms.exactOptional(),
  armedMs: ms.exactOptional(),
  /** Boot ids of the host that is cut off, when its heal was armed and once it had run; older records have none. */
  armedBootId: z.string().exactOptional(),
  healedBootId: z.string().exactOptional(),
  /** Seen from the second vantage point. */
  cutMs: ms.exactOptional(),
  /** The API's: not Ready, whatever it says then. */
  notReadyMs: ms.exactOptional(),
  remedyMs: ms.exactOptional(),
  healedMs: ms.exactOptional(),
  readyAgainMs: ms.exactOptional(),
  /** The host itself: nothing of the cut is left there. */
  checked: z.boolean(),
  looks: z.array(look),
  volumes: z.array(volume),
});
export type CutRecord = Immutable<z.output<typeof cutRecordSchema>>;

/** Changes of the word only. */
export function looksOf(lines: readonly string[]): ReachabilityLook[] {
  const looks = lines.flatMap((line): ReachabilityLook[] => {
    const [, word, at] = /^\d+ (up|down) (\d+)$/.exec(line) ?? [];
    return word === undefined ? [] : [{ word: word as ReachabilityLook['word'], atMs: Number(at) }];
  });
  return looks.filter((look, index) => looks[index - 1]?.word !== look.word);
}
