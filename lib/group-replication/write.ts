/** What a run on a group leaves beside its history: verdict.json and summary.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GroupVerdict } from './verdict.ts';

/** The same verdict gives the same bytes. */
export function writeGroupOutputs(folder: string, verdict: GroupVerdict): void {
  const json = `${JSON.stringify(verdict, undefined, 2)}\n`;
  writeFileSync(join(folder, 'verdict.json'), json);
  writeFileSync(join(folder, 'summary.md'), groupSummary(verdict));
}

/** The last line of a run on the terminal. */
export function groupVerdictLine(verdict: GroupVerdict, folder: string): string {
  const expected = verdict.asExpected ? 'as expected' : `expected ${verdict.expected.join(' or ')}`;
  const word = verdict.verdict.toUpperCase();
  const path = join(folder, 'summary.md');
  return `${word} (${expected}) — ${verdict.sentence} [${verdict.basis}] → ${path}`;
}

const phaseNames: Readonly<Record<keyof GroupVerdict['phases'], string>> = {
  suspected: 'another member calls the victim unreachable',
  expelled: 'the group has thrown it out',
  newPrimary: 'another primary',
  routed: 'a router sends outside clients there',
  firstCommit: 'the first commit there',
  victimAlone: 'the victim sees no majority',
  victimLeft: 'the victim is out of the group by its own word',
  victimReadOnly: 'the victim is read-only',
  victimOffline: 'the victim refuses ordinary users',
  healed: 'healed',
  rejoined: 'the victim is a member in good order again',
};

/** Markdown: the sentence, the phases in their order, what the victim did meanwhile, the findings. */
export function groupSummary(verdict: GroupVerdict): string {
  const { sentence, victim, successor, settings, findings, incompleteBecause } = verdict;
  const phases = Object.entries(verdict.phases)
    .flatMap(([name, s]) => (s === null ? [] : [{ name: name as keyof typeof phaseNames, s }]))
    .toSorted((a, b) => a.s - b.s)
    .map(({ name, s }) => `| ${s.toFixed(1)} | ${phaseNames[name]} |`);
  const stalest = victim.stalestMs === null ? '' : `, up to ${seconds(victim.stalestMs)} s behind`;
  return [
    `# ${verdict.verdict}: group replication`,
    sentence,
    `Settings: ${Object.entries(settings)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}. Timers of Kubernetes: ${verdict.basis === 'measured' ? 'stock' : 'shortened'}.`,
    ...incompleteBecause.map((why) => `Incomplete: ${why}`),
    ['| Seconds after the fault | |', '| ---: | --- |', ...phases].join('\n'),
    [
      `- The old primary: ${victim.acked} commits acknowledged, ${victim.refused} refused, ${victim.unknown} of unknown outcome;`,
      `  ${victim.readsAnswered} reads answered, ${victim.readsRefused} refused, ${victim.staleReads} stale${stalest}.`,
      `- The new one: ${successor.readsAnswered} reads answered, ${successor.staleReads} stale.`,
      ...findings.map(({ code, summary }) => `- ${code}: ${summary}.`),
    ].join('\n'),
    `\`${verdict.replay}\``,
    '',
  ].join('\n\n');
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
