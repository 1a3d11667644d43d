/** Flags and limits of whole runs on kind with shortened timers. */
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';

export const shortened = ['--grace', '10s', '--toleration', '10s', '--force-detach-after', '15s'];

/** Runs of one file share a kept cluster of that name. */
export const quickOn = (name: string): string[] => [
  ...['--cluster', 'kind', '--cluster-name', name, '--keep'],
  ...[...shortened, '--warmup', '5s', '--overlap', '10s'],
];

/** A cold image build may come first. */
export const firstRunMs = 40 * 60_000;
export const runMs = 10 * 60_000;

/** `said`: what the run printed, for who wants to know why there is none. */
export function known(verdict: Verdict | undefined, said = 'it came to no verdict'): Verdict {
  if (verdict === undefined) throw new Error(said);
  return verdict;
}
