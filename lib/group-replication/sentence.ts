/** A group's verdict in one sentence with numbers. */
import type { GroupVerdict } from './verdict.ts';

const faults: Readonly<Record<string, string>> = {
  'network-partition': 'The primary’s node was cut off the network',
  'node-crash': 'The primary’s node crashed',
  freeze: 'The primary’s node stood still',
};

export function groupSentence(verdict: Omit<GroupVerdict, 'sentence'>): string {
  const { availability, acked, lost, victim, scenario } = verdict;
  const { downtimeMs, rejoined } = availability;
  const parts = [
    faults[String(scenario['fault'])] ?? 'The primary’s node was broken',
    downtimeMs === null
      ? 'no outside client ever had a commit'
      : `outside clients waited ${(downtimeMs / 1000).toFixed(1)} s for their next commit`,
    lost === null
      ? `it is not known how many of ${acked} acknowledged commits are gone`
      : `${lost} of ${acked} acknowledged commits are gone`,
    `the old primary acknowledged ${victim.acked} meanwhile` +
      ` and answered ${victim.readsAnswered} reads, ${victim.staleReads} of them stale`,
    rejoined ? 'it joined again' : 'it did not join again',
  ];
  return `${parts.join('; ')}.`;
}
