/** Which sources show a normal operator that something is wrong, and when. */
import { html } from 'hono/html';
import { firstTold, noticeInWords } from '../experiment/verdict/notices.ts';
import type { Notice } from '../experiment/verdict/verdict.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { countInWords } from '../counts.ts';
import type { Html } from './html-parts.ts';

/** Undefined where there was nothing to notice, or a source that would show it was not recorded. */
export function noticedChip(
  verdict: Verdict,
): { readonly short: string; readonly whole: string } | undefined {
  const { noticed, notices } = verdict;
  if (noticed === null) return undefined;
  if (noticed === 'silent') {
    const silent = 'silent: no event, probe, log or check shows it';
    return { short: silent, whole: silent };
  }
  const short = 'visible to an operator';
  const first = firstTold(notices);
  return { short, whole: first === undefined ? short : `${short}: ${noticeInWords(first)}` };
}

/** Nothing where no source shows anything. */
export function noticesCard({ notices, noticed }: Verdict): Html | string {
  if (notices.length === 0) return '';
  return html`<section class="card"><h2>What an operator can see</h2>
<table><thead><tr><th>Source</th><th>What</th><th>When</th><th>Harm</th></tr></thead><tbody>${notices.map((notice) => row(notice, noticed !== null))}</tbody></table>
<p class="faint">Harm “no”: a harmless fail-over shows it as well, or it shows only on request.</p>
</section>`;
}

/** `isHarm`: there was harm that it may point to. */
const row = (notice: Notice, isHarm: boolean): Html =>
  html`<tr class="${notice.ofHarm && isHarm ? 'bad' : ''}" title="${notice.evidence}"><td class="text">${notice.by}</td>
<td class="text">${notice.what}${notice.count === 1 ? '' : `, ${countInWords(notice.count)} times`}</td><td>${whenOf(notice)}</td>
<td>${notice.ofHarm ? 'yes' : 'no'}</td></tr>`;

function whenOf({ firstS, lastS, when }: Notice): string {
  if (firstS === null) return `on the copy ${when}`;
  const until = lastS === null || lastS === firstS ? '' : ` to +${lastS.toFixed(1)} s`;
  return `+${firstS.toFixed(1)} s${until}, ${when}`;
}
