/** What a cut leaves: raw, from which alone its answer follows. All times are of the probe's clock. */
import type { TrialRecord } from '../trials/record.ts';

/** Of a volume under the cut. `deleteAskedMs` is the remedy, `watchEndedMs` the end of the late writes. */
export interface CutVolume extends TrialRecord {
  readonly storageClass: string;
}

/** Whether the other node reached the node that is cut off; unix milliseconds. */
export interface Look {
  readonly word: 'up' | 'down';
  readonly atMs: number;
}

export interface CutRecord {
  /** Unreachable and reachable again, in the rehearsal. */
  readonly rehearsedMs?: number;
  readonly armedMs?: number;
  /** Seen from the second vantage point. */
  readonly cutMs?: number;
  /** The API's: not Ready, whatever it says then. */
  readonly notReadyMs?: number;
  readonly remedyMs?: number;
  readonly healedMs?: number;
  readonly readyAgainMs?: number;
  /** The host itself: nothing of the cut is left there. */
  readonly checked: boolean;
  readonly looks: readonly Look[];
  readonly volumes: readonly CutVolume[];
}

/** Changes of the word only. */
export function looksOf(lines: readonly string[]): Look[] {
  const looks = lines.flatMap((line): Look[] => {
    const [, word, at] = /^\d+ (up|down) (\d+)$/.exec(line) ?? [];
    return word === undefined ? [] : [{ word: word as Look['word'], atMs: Number(at) }];
  });
  return looks.filter((look, index) => looks[index - 1]?.word !== look.word);
}
