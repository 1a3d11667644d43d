/** The report of a run on a group: one self-contained page without scripts. */
import { html } from 'hono/html';
import { secondsInWords, secondsShown } from '../../core/index.ts';
import { type Loss, phaseRows, stalestText, type GroupVerdict } from '../../judge/index.ts';
import { renderDocument } from '../document.ts';
import { adviceCards, factList, missingEvidence } from '../first-screen.ts';
import { certificateTable } from '../html.ts';
import { card, list, numbers, pairs, pictures, table, type Html } from '../html-parts.ts';
import { leadWidth, recoveryPicture } from '../pictures.ts';
import { customInWords } from '../wording.ts';
import { groupAdvice, groupFacts, groupScreen } from './screen.ts';
import type { Database } from '../../run/index.ts';

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
  const steps =
    suspected === null || expelled === null || firstCommit === null
      ? []
      : [
          { name: 'suspected', fromS: 0, toS: suspected },
          { name: 'expelled', fromS: suspected, toS: expelled },
          { name: 'first commit', fromS: expelled, toS: firstCommit },
        ];
  const about = 'The time until the first commit; the table below has its steps.';
  return html`${steps.length === 0 ? '' : pictures(recoveryPicture(steps, leadWidth), about)}
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
