/** Who would have told a normal operator that something is wrong, and when. */
import { html } from 'hono/html';
import { firstTold, noticeInWords } from '../experiment/verdict/notices.ts';
import type { Notice } from '../experiment/verdict/verdict.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { countInWords } from '../counts.ts';
import type { Html } from './html-parts.ts';

/** Undefined where there was nothing to notice, or nobody was heard who would have told. */
export function noticedChip(
  verdict: Verdict,
): { readonly short: string; readonly whole: string } | undefined {
  const { noticed, notices } = verdict;
  if (noticed === null) return undefined;
  if (noticed === 'silent') {
    const silent = 'silent: no event, probe, log or check told of it';
    return { short: silent, whole: silent };
  }
  const short = 'loud: an operator would have been told';
  const first = firstTold(notices);
  return { short, whole: first === undefined ? short : `${short}, ${noticeInWords(first)}` };
}

/** Nothing where nothing was told at all. */
export function noticesCard({ notices, noticed }: Verdict): Html | string {
  if (notices.length === 0) return '';
  return html`<section class="card"><h2>What an operator is told</h2>
<table><thead><tr><th>Who</th><th>What</th><th>When</th><th>Harm</th></tr></thead><tbody>${notices.map((notice) => row(notice, noticed !== null))}</tbody></table>
<p class="faint">Harm: “no” where a fail-over that does no harm shows it as well, or nobody asks for it.</p>
</section>`;
}

/** `isHarm`: there was harm, of which it may have told. */
const row = (notice: Notice, isHarm: boolean): Html =>
  html`<tr class="${notice.ofHarm && isHarm ? 'bad' : ''}" title="${notice.evidence}"><td class="text">${notice.by}</td>
<td class="text">${notice.what}${notice.count === 1 ? '' : `, ${countInWords(notice.count)} times`}</td><td>${whenOf(notice)}</td>
<td>${notice.ofHarm ? 'yes' : 'no'}</td></tr>`;

function whenOf({ firstS, lastS, when }: Notice): string {
  if (firstS === null) return `on the copy ${when}`;
  const until = lastS === null || lastS === firstS ? '' : ` to +${lastS.toFixed(1)} s`;
  return `+${firstS.toFixed(1)} s${until}, ${when}`;
}
