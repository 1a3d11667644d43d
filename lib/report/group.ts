/** What a run on a group leaves beside its history: one page without scripts, Markdown, and files for programs and CI. */
import { join } from 'node:path';
import { html } from 'hono/html';
import { countInWords, secondsInWords, secondsShown, writeOutput } from '../core/index.ts';
import type { History } from '../history/index.ts';
import {
  type GroupVerdict,
  type Loss,
  groupHeadlineOf,
  phaseRows,
  stalestText,
} from '../judge/index.ts';
import type { Database } from '../run/index.ts';
import { faultNamed } from '../scenario/index.ts';
import { renderDocument } from './document.ts';
import {
  adviceCards,
  drawNoConclusion,
  factList,
  missingEvidence,
  type Advice,
  type Fact,
  type FirstScreen,
} from './first-screen.ts';
import { certificateTable } from './html.ts';
import { card, list, numbers, pairs, pictures, table, type Html } from './html-parts.ts';
import { renderJunit } from './junit.ts';
import { lostOf } from './loss-words.ts';
import { leadWidth, recoveryPicture } from './pictures.ts';
import { customInWords, onceInWords } from './wording.ts';

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

export function groupSummary(verdict: GroupVerdict): string {
  const { sentence, victim, successor, settings, findings, incompleteBecause } = verdict;
  const custom = customInWords(verdict);
  const named = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  return [
    `# ${verdict.verdict}: group replication`,
    sentence,
    `Settings: ${named.join(', ')}. Timers of Kubernetes: ${verdict.basis === 'measured' ? 'stock' : 'changed'}.`,
    ...incompleteBecause.map((why) => `Incomplete: ${why}`),
    ...(custom === undefined ? [] : [`The caller’s own: ${custom}`]),
    [
      ...['| Seconds after the fault | |', '| ---: | --- |'],
      ...phaseRows(verdict).map(({ s, what }) => `| ${s.toFixed(1)} | ${what} |`),
    ].join('\n'),
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

/** A complete HTML document; the same verdict gives the same bytes. */
export function renderGroupHtml(verdict: GroupVerdict, database: Database): Promise<string> {
  const { certificates, settings, timers, versions, findings, replay } = verdict;
  const custom = customInWords(verdict);
  const own = custom === undefined ? {} : { 'The caller’s own, not vouched for': custom };
  return renderDocument({
    title: `${verdict.verdict.toUpperCase()}: group replication (${verdict.runId})`,
    screen: groupScreen(verdict, database),
    main: html`${verdict.complete ? '' : missingEvidence(verdict)}
<div class="lead">
${card('What happened when', times(verdict))}
<div>${adviceCards(groupAdvice(verdict))}</div>
</div>
${factList(groupFacts(verdict))}
<div class="two">
${card(
  'Acknowledged commits, by when they were acknowledged',
  html`${lossTable(verdict)}
<h2>The old primary meanwhile</h2>${pairs(victimFacts(verdict))}`,
)}
${card(
  'Members at the end',
  html`${memberTable(verdict)}
<h2>Findings</h2>${
    findings.length === 0
      ? html`<p>None.</p>`
      : list(findings.map(({ code, summary }) => html`<b>${code}</b>: ${summary}`))
  }
<h2>Run it again</h2><pre>${replay}</pre>`,
)}
</div>
${card('Proof that the fault was there, and that it was healed', certificateTable(certificates))}
${card(
  'Settings, timers, versions',
  pairs(Object.entries({ ...settings, ...timers, ...versions, ...own })),
)}`,
  });
}

function times(verdict: GroupVerdict): Html {
  const { suspected, expelled, firstCommit } = verdict.phases;
  const ends = { suspected, expelled, 'first commit': firstCommit };
  let fromS = 0;
  const steps = Object.entries(ends).flatMap(([name, toS]) => {
    if (toS === null) return [];
    const step = { name, fromS, toS };
    fromS = toS;
    return [step];
  });
  const about = 'The time until the first commit; the table below has its steps.';
  return html`${steps.length < 3 ? '' : pictures(recoveryPicture(steps, leadWidth), about)}
${table(
  [...numbers('After the fault'), 'Event'],
  phaseRows(verdict).map(({ s, what }) => [`+${secondsInWords(s)}`, what]),
)}`;
}

const epochs: Readonly<Record<keyof Loss, string>> = {
  beforeFault: 'before the fault',
  victimBeforeHandover: 'by the old primary, before another one',
  victimAfterHandover: 'by the old primary, after it',
  successor: 'by the new primary',
};

const lossTable = ({ loss }: GroupVerdict): Html =>
  table(
    ['Acknowledged', ...numbers('commits', 'lost')],
    Object.entries(loss ?? {}).map(([epoch, { acked, lost }]) => ({
      cells: [epochs[epoch as keyof typeof epochs], acked, lost],
      style: lost > 0 ? 'bad' : '',
    })),
  );

function victimFacts(verdict: GroupVerdict): [string, string][] {
  const { node, acked, refused, unknown, claimedMs, ...reads } = verdict.victim;
  const { readsAnswered, readsRefused, staleReads } = reads;
  const stale = `${staleReads} stale${stalestText(verdict)}`;
  return [
    ['Node', node],
    ['Commits', `${acked} acknowledged, ${refused} refused, ${unknown} of unknown outcome`],
    ['Reads', `${readsAnswered} answered, ${readsRefused} refused, ${stale}`],
    ['Called itself primary beside another', secondsShown(claimedMs / 1000)],
  ];
}

const memberTable = ({ members }: GroupVerdict): Html =>
  table(
    ['Node', ...numbers('rows'), 'as the group’s primary', 'beyond the group'],
    members.map(({ node, rows, agrees, beyond }) => ({
      cells: [
        ...[node, rows ?? '–', agrees === null ? 'not comparable' : agrees ? 'yes' : 'no'],
        beyond === '' ? 'nothing' : beyond,
      ],
      style: agrees === false ? 'bad' : '',
    })),
  );

/** Stale reads are no loss, and stand on the first screen all the same. */
function groupScreen(verdict: GroupVerdict, database: Database): FirstScreen {
  const { basis, asExpected, expected, runId, sentence, victim } = verdict;
  return {
    top: `forcedetach · group replication · run ${runId}`,
    tone: verdict.verdict,
    ...(victim.staleReads > 0 ? { caveat: `${staleOf(victim)} reads stale` } : {}),
    headline: groupHeadlineOf(verdict, database),
    sentence,
    notes: [onceInWords(verdict)],
    chips: [
      { text: `${basis}, ${basis === 'measured' ? 'stock' : 'changed'} timers of Kubernetes` },
      {
        text: `${asExpected ? 'as expected' : 'NOT as expected'}: ${expected.join(' or ')}`,
        alarm: !asExpected,
      },
    ],
  };
}

const staleOf = ({ staleReads, readsAnswered }: GroupVerdict['victim']): string =>
  `${countInWords(staleReads)} of ${countInWords(readsAnswered)}`;
const secondsOrNever = (s: number | null): string => (s === null ? 'never' : secondsShown(s));

function groupFacts({ acked, lost, availability, phases, victim }: GroupVerdict): Fact[] {
  const { downtimeMs, recovered, rejoined } = availability;
  return [
    {
      name: 'Acknowledged commits',
      value: lostOf(lost, acked),
      more: lost === null ? 'the ledger was not read' : 'in the group’s ledger',
      ...((lost ?? 0) > 0 ? { tone: 'lost' } : {}),
    },
    {
      name: 'Outside clients waited',
      value: downtimeMs === null ? 'unknown' : secondsShown(downtimeMs / 1000),
      more: recovered ? 'then commits came back' : 'no commits came back in time',
    },
    {
      name: 'Another primary',
      value: secondsOrNever(phases.newPrimary),
      more: 'after the fault',
    },
    {
      name: 'Stale reads at the old primary',
      value: staleOf(victim),
      more: 'lacked a commit that was acknowledged before the read began',
      ...(victim.staleReads > 0 ? { tone: 'exposed' } : {}),
    },
    {
      name: 'The old primary',
      value: rejoined ? 'joined again' : 'did not join again',
      more: rejoined
        ? `${secondsOrNever(phases.rejoined)} after the fault`
        : 'by the end of the run',
    },
  ];
}

/** The timeout is named where the committed runs differ by it alone (docs/results/group-replication.md). */
function groupAdvice(verdict: GroupVerdict): Advice {
  const { victim, settings, scenario, availability, verdict: word } = verdict;
  if (word === 'inconclusive') return drawNoConclusion;
  const isStale = victim.staleReads > 0;
  const staysStale = isStale && settings['majorityTimeoutS'] === 0;
  const timeout = 'group_replication_unreachable_majority_timeout';
  const fault = faultNamed(scenario.fault.kind).words;
  const lines = (...all: readonly (string | false)[]): string[] =>
    all.filter((line) => line !== false);
  return {
    advice: lines(
      word === 'safe'
        ? 'It was safe because a primary that sees no majority acknowledges no commit.'
        : 'Stop the clients, and compare the members before you let any of them serve again.',
      isStale &&
        'Send reads where a majority of the members names the primary, as a router that asks them all does.',
      staysStale &&
        `Set ${timeout}: its default 0 waits for ever. With 10 s the measured run had no stale read (n = 1).`,
      !availability.rejoined &&
        'Read the error log of the old primary, then start group replication on it again.',
    ),
    appliesIf: lines(
      'the database is a MySQL group of three members in single-primary mode',
      fault.replace('old node', 'node of the primary'),
      isStale && 'clients can still read at the old primary',
      staysStale && `${timeout} is 0 (its default)`,
    ),
    appliesNote:
      'The kind of storage does not decide here: each member has its own volume, and no volume moves.',
  };
}
