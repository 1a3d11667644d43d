/** The words of a page that readers may not know: each is explained in place, and listed at the page's end. */
import { html } from 'hono/html';
import type { Html } from './html-parts.ts';

/** By the word as it is listed; docs/reference/glossary.md has each, and many more. */
export const terms: Readonly<Record<string, string>> = {
  acknowledged: 'the database answered the COMMIT with OK',
  audit: 'reading a copy of the volume from cold and comparing it with the clients’ journal',
  cell: 'one combination of the axes of a batch, such as a fault, a remedy and a disk',
  certificate: 'a probe that proves that a fault took effect, lasted, or was healed',
  control: 'a run that must show damage, or must not; otherwise the batch proves nothing',
  eviction: 'deletion of a pod by the control plane; a cut-off node does not receive it',
  'fault event': 'one node failure; volumes that share it count once',
  fence: 'cut a suspect node off from its storage, so that its writes cannot reach the data',
  'first image': 'the copy of the volume from before the heal: what the fault did',
  'force-delete': 'remove the pod object at once, without confirmation that its processes ended',
  'hand-over': 'the successor’s first write to the volume; a journal replay counts',
  heal: 'the end of the fault: network, node and processes are restored',
  horizon: 'how long after the fault the run watches',
  inside: 'a client on the victim’s side of a partition',
  lost: 'an acknowledged commit that is missing from the last fully readable copy',
  outside: 'a client on the cluster’s side of a partition, as most of your users',
  'out-of-service': 'a taint by which an operator states that the node is off',
  remedy: 'what removes the old pod: a person, a tool, or nothing',
  'second image': 'the copy of the volume from after the heal',
  silent: 'no event, probe, error log or check shows the damage to an operator',
  successor: 'the node, and its database, that gets the volume next',
  unreadable: 'not readable from this copy of the volume; a later copy may have it',
  victim: 'the node, and its database, that had the volume at the fault',
};

/** Other forms of the words. */
const forms: Readonly<Record<string, string>> = {
  'acknowledged commit': 'acknowledged',
  'acknowledged commits': 'acknowledged',
  certificates: 'certificate',
  cells: 'cell',
  controls: 'control',
  evicted: 'eviction',
  'fault events': 'fault event',
  fenced: 'fence',
  fences: 'fence',
  healed: 'heal',
};

const spelled = [...Object.keys(terms), ...Object.keys(forms)].toSorted(
  (a, b) => b.length - a.length,
);
const anyTerm = new RegExp(`(?<![\\w-])(${spelled.join('|')})(?![\\w-])`, 'gi');

const idOf = (term: string): string => `word-${term.replaceAll(' ', '-')}`;

/** The text with each word that has a meaning here marked once. */
export function explained(text: string): Html {
  const meanings = terms;
  const seen = new Set<string>();
  const parts = text.split(anyTerm).map((part, index) => {
    const term = index % 2 === 1 ? listed(part) : undefined;
    if (term === undefined || seen.has(term)) return html`${part}`;
    seen.add(term);
    return html`<a class="term" href="#${idOf(term)}" title="${meanings[term]}">${part}</a>`;
  });
  return html`${parts}`;
}

function listed(word: string): string {
  const small = word.toLowerCase();
  return forms[small] ?? small;
}

/** What the markup above it explains, as a list; nothing where it explains nothing. */
export function wordList(markup: string): Html | string {
  const used = Object.entries(terms).filter(([term]) => markup.includes(`href="#${idOf(term)}"`));
  if (used.length === 0) return '';
  return html`<section class="card"><h2>Words of this page</h2><dl class="words">
${used.map(
  ([
    term,
    meaning,
  ]) => html`<div><dt><dfn id="${idOf(term)}">${term}</dfn></dt><dd>${meaning}</dd></div>
`,
)}</dl></section>`;
}
