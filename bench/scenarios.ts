/**
 * Runs random valid scenarios on the model, one after the other in this process, and counts what
 * became of them: `ended`, `rulesBroken` (test/property/verdict-rules.ts), `disagreements` with the plays
 * of the sweep (test/property/agreement.ts), the slowest, the peak of memory. `--count n`: so many of them; default 10,000.
 */
import fc from 'fast-check';
import type { Scenario } from '../lib/scenario/scenario.ts';
import { isPlayed } from '../test/property/agreement.ts';
import { anyScenario } from '../test/property/any-scenario.ts';
import { playOnce } from '../test/property/play-once.ts';
import { brokenRules } from '../test/property/verdict-rules.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';

const target = { count: 10_000, peakRssMiB: 500 };
/** Draws all of them. */
const drawnBy = 20_261_124;
/** Of a run that takes a second at most: longer is a hang. */
const hangsAfterMs = 120_000;
const toldEvery = 500;
const disagrees = 'no play of the sweep gives its word';

interface Trouble {
  readonly seed: string;
  readonly what: readonly string[];
  readonly scenario: Scenario;
}

export default async function bench(context: BenchContext): Promise<BenchResult> {
  const { onProgress, count = target.count } = context;
  const troubles: Trouble[] = [];
  const longest = { realMs: 0, virtualMs: 0 };
  const words: Record<string, number> = {};
  let ended = 0;
  for (const [index, scenario] of fc
    .sample(anyScenario, { numRuns: count, seed: drawnBy })
    .entries()) {
    const seed = String(index);
    const startedMs = performance.now();
    const what = await outcomeOf(scenario, seed, (word, virtualMs) => {
      ended += 1;
      words[word] = (words[word] ?? 0) + 1;
      longest.virtualMs = Math.max(longest.virtualMs, Math.round(virtualMs));
    });
    longest.realMs = Math.max(longest.realMs, Math.round(performance.now() - startedMs));
    if (what.length > 0) {
      troubles.push({ seed, what, scenario });
      onProgress(`scenario ${seed}: ${what.join(', ')}`);
    }
    if ((index + 1) % toldEvery === 0)
      onProgress(`${index + 1} of ${count}: ${JSON.stringify(words)}`);
  }
  const peakRssMiB = Math.round(process.resourceUsage().maxRSS / 1024);
  const disagreements = troubles.filter(({ what }) => what.includes(disagrees)).length;
  const rulesBroken = troubles.filter(({ what }) => what.some((each) => each !== disagrees)).length;
  const data = { target, count, ended, rulesBroken, disagreements, peakRssMiB, longest, words };
  return {
    ok: ended === count && troubles.length === 0 && peakRssMiB <= target.peakRssMiB,
    data: { ...data, troubles },
    lines: [JSON.stringify(data), ...troubles.map((each) => JSON.stringify(each))],
  };
}

/** What is wrong with the run; nothing where it ended and its verdict agrees with itself. */
async function outcomeOf(
  scenario: Scenario,
  seed: string,
  onEnd: (word: string, virtualMs: number) => void,
): Promise<readonly string[]> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, hangsAfterMs, undefined);
  try {
    const played = await Promise.race([playOnce(scenario, seed), late.promise]);
    if (played === undefined) return ['it did not end'];
    const { verdict, safety } = played.verdict;
    onEnd(verdict, played.tookMs);
    return [...brokenRules(played, scenario), ...(isPlayed(scenario, safety) ? [] : [disagrees])];
  } catch (error) {
    return [String(error)];
  } finally {
    clearTimeout(timer);
  }
}
