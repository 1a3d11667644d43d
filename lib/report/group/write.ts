/** What a run on a group leaves beside its history: for people, for programs and for CI. */
import { join } from 'node:path';
import type { Database } from '../../run/index.ts';
import type { History } from '../../history/index.ts';
import { writeOutput } from '../../core/index.ts';
import { renderJunit } from '../junit.ts';
import { customInWords } from '../wording.ts';
import { renderGroupHtml } from './page.ts';
import { phaseRows, stalestText, type GroupVerdict } from '../../judge/index.ts';

/** The same verdict gives the same bytes. */
export async function writeGroupOutputs(
  folder: string,
  verdict: GroupVerdict,
  history: Pick<History, 'smallRecords'>,
  { database }: { readonly database: Database },
): Promise<void> {
  const write = (name: string, content: string): void => writeOutput(join(folder, name), content);
  write('verdict.json', `${JSON.stringify(verdict, undefined, 2)}\n`);
  write('junit.xml', await renderJunit(verdict, history));
  write('summary.md', groupSummary(verdict));
  write('report.html', await renderGroupHtml(verdict, database));
}

/** Markdown: the sentence, the phases in their order, what the victim did meanwhile, the findings. */
export function groupSummary(verdict: GroupVerdict): string {
  const { sentence, victim, successor, settings, findings, incompleteBecause } = verdict;
  const custom = customInWords(verdict);
  const phases = phaseRows(verdict).map(({ s, what }) => `| ${s.toFixed(1)} | ${what} |`);
  return [
    `# ${verdict.verdict}: group replication`,
    sentence,
    `Settings: ${Object.entries(settings)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}. Timers of Kubernetes: ${verdict.basis === 'measured' ? 'stock' : 'changed'}.`,
    ...incompleteBecause.map((why) => `Incomplete: ${why}`),
    ...(custom === undefined ? [] : [`The caller’s own: ${custom}`]),
    ['| Seconds after the fault | |', '| ---: | --- |', ...phases].join('\n'),
    [
      `- The old primary: ${victim.acked} commits acknowledged, ${victim.refused} refused, ${victim.unknown} of unknown outcome;`,
      `  ${victim.readsAnswered} reads answered, ${victim.readsRefused} refused, ${victim.staleReads} stale${stalestText(verdict)}.`,
      `- The new one: ${successor.readsAnswered} reads answered, ${successor.staleReads} stale.`,
      ...findings.map(({ code, summary }) => `- ${code}: ${summary}.`),
    ].join('\n'),
    `\`${verdict.replay}\``,
    '',
  ].join('\n\n');
}
