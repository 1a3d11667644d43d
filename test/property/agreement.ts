/** A run and the sweep's plays of the same scenario: one meaning of every field. */
import type { Safety } from '../../lib/judge/verdict/verdict.ts';
import type { Scenario } from '../../lib/scenario/scenario.ts';
import { judge } from '../../lib/sweep/judge.ts';
import { play } from '../../lib/sweep/play.ts';

/** A word that a run gives by chance is rare, and must still be among so many. */
const mostPlays = 3000;

/** Whether a play gives that word. */
export function isPlayed(scenario: Scenario, word: Safety): boolean {
  for (let seed = 0; seed < mostPlays; seed++) {
    if (judge(play(scenario, String(seed))).safety === word) return true;
  }
  return false;
}
