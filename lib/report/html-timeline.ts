/** What happened when: the zoomable time axis, its static twin, and the way back in steps. */
import { html } from 'hono/html';
import type { Role } from './axis/palette.ts';
import { rolesIn } from './axis/timeline.ts';
import { pictures, secondsShown, type Html } from './html-parts.ts';
import { recoveryPicture, timelinePicture } from './pictures.ts';
import { explained } from './terms.ts';
import type { RecoveryStep, ReportData } from './types.ts';

export function timelineSection({ timeline, operations, recovery }: ReportData): Html {
  const exposed = timeline.exposure !== null;
  return html`<section class="card"><h2>What happened when</h2>
<p class="faint">Seconds after the fault.
${exposed ? 'Shaded: two nodes could write the volume.' : 'No two nodes could write.'}
Bars in the colour of <span class="victim-role">the ${explained('victim')}</span> or of
<span class="successor-role">its ${explained('successor')}</span> are as they should be; amber and red are not. Clients stand ${explained('inside')} or ${explained('outside')}.</p>
<div class="tools" role="group" aria-label="Zoom">
<button type="button" data-zoom="first">Overview</button>
<button type="button" data-zoom="whole">Whole run</button>
<button type="button" data-zoom="fault">Fault</button>
${exposed ? html`<button type="button" data-zoom="handover">Hand-over</button>` : ''}
<button type="button" data-zoom="in" aria-label="Zoom in">+</button>
<button type="button" data-zoom="out" aria-label="Zoom out">−</button>
<button type="button" data-zoom="left" aria-label="Earlier">←</button>
<button type="button" data-zoom="right" aria-label="Later">→</button>
<span class="faint" id="range" role="status">Drag, pinch, Ctrl + wheel, or keys + − ← → 0</span>
</div>
<div class="tools" role="group" aria-label="Lanes">
${rolesIn(timeline).map(({ role, title }) => roleButton(role, title))}
</div>
<div><div id="timeline" tabindex="0" role="img" aria-label="Time axis with lanes; the same facts are in
the tables of this page. Keys: plus, minus, left, right, zero"></div></div>
<div class="static">${pictures(timelinePicture(timeline, operations), 'Time axis with lanes')}</div>
</section>
${recovery.length === 0 ? '' : recoverySection(recovery)}`;
}

/** Other nodes are closed at first (browser/timeline-view.ts). */
const roleButton = (role: Role, title: string): Html =>
  html`<button type="button" class="${role}-role" data-role="${role}"
aria-pressed="${role === 'other' ? 'false' : 'true'}">${title}</button>
`;

const recoverySection = (steps: readonly RecoveryStep[]): Html =>
  html`<section class="card recovery"><h2>Where the time went, from the fault on</h2>
${pictures(recoveryPicture(steps), 'The way from the fault to the first commit')}
<table><thead><tr><th>Step</th><th class="number">took</th>
<th class="number">done after the fault</th></tr></thead>
<tbody>${steps.map(recoveryRow)}</tbody></table></section>`;

const recoveryRow = ({ name, fromS, toS }: RecoveryStep): Html =>
  html`<tr><td>${name}</td><td class="number">${secondsShown(toS - fromS)}</td>
<td class="number">+${secondsShown(toS)}</td></tr>`;
