/**
 * README's answer: its tables are made from the published findings, the store that they are counted from
 * and the runs that they name. `npx vitest run -u --project unit test/docs/readme.test.ts` writes it.
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countInWords, markdownTable } from '../../lib/core/numbers.ts';
import { countOf } from './count-events.ts';
import { all, only, shortened, stock, textByRate } from '../../lib/batch/counted.ts';
import { departures, findings, type PublishedFinding } from './findings.ts';
import { readRuns } from '../../lib/batch/measurements.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { filled, read, root } from './pages.ts';

const store = readRuns();

/** The published finding whose text starts so. */
function finding(start: string): PublishedFinding {
  const [found, ...more] = [...Object.values(findings), departures]
    .flat()
    .filter(({ says }) => says.replaceAll('*', '').startsWith(start));
  if (found === undefined || more.length > 0) throw new Error(`not one finding: ${start}`);
  return found;
}

/** `39 of 39`: at the default write rate, or at others if there is no event at it. */
function counted({ when, any, words }: PublishedFinding): string {
  const fits = only(when, any);
  const texts = [stock, shortened].map((timers) => {
    const events = store.filter(all(fits, timers));
    const text = textByRate(events, (some) => {
      const { count, of } = countOf(some, words, fits);
      return `${count} of ${of}`;
    });
    return text.split('; ')[0] ?? '';
  });
  const [own, short] = texts;
  return own !== '' ? (own ?? '') : `${short}, with shortened timers`;
}

/** What the last copy of the volume has of the commits that were acknowledged. */
function sampleOf({ run }: PublishedFinding): string {
  if (run === undefined) throw new Error('no sample');
  const verdict = JSON.parse(read(`reports/${run}/verdict.json`)) as Verdict;
  expect(verdict.basis).toBe('measured');
  const { acked, lost, readable } = verdict.images.at(-1) ?? {
    acked: 0,
    lost: null,
    readable: false,
  };
  const [count, of] = [lost ?? acked, acked].map(countInWords);
  const became = readable ? 'lost' : 'unreadable';
  return `[${count} of ${of} commits ${became}](reports/${run}/summary.md)`;
}

const head = ['The node is', 'Action', 'The storage', 'Outcome', 'Stock fault events', 'One run'];

const acts: [string, string, string, string][] = [
  ['cut off, running', 'pod force-deleted', 'does not fence', 'cut off, its pod force-deleted'],
  ['cut off, running', 'out-of-service taint', 'does not fence', 'cut off, tainted out-of-service'],
  ['cut off, running', 'any of these', 'cuts the node off first', 'storage cuts the old node off'],
  ['frozen, thaws later', 'pod force-deleted', 'does not fence', 'frozen, its pod force-deleted'],
  ['dead', 'any', 'does not fence', 'a crash, default MySQL'],
  ['dead, `innodb_flush_log_at_trx_commit=2`', 'any', 'does not fence', 'a crash, `innodb'],
];

const noneActs: [string, string][] = [
  ['none', 'cut off: the evicted pod keeps'],
  ['`terminationGracePeriodSeconds: 0`', 'cut off, `terminationGrace'],
  ['the container of a Deployment is in a crash loop', 'cut off, a Deployment whose container'],
  ['the volume of a Deployment is ReadWriteMany', 'cut off, a Deployment with a ReadWriteMany'],
  [
    'the kubelet ended the pod in a graceful shutdown, and the machine is off',
    'shut down, its kubelet ends its pods',
  ],
];

const outcome = ({ words }: PublishedFinding): string =>
  words.map((word) => (word === 'safe' ? word : `**${word}**`)).join(' or ');

const rowOf = (cells: readonly string[], start: string): string[] => {
  const found = finding(start);
  return [...cells, outcome(found), counted(found)];
};

const answer = [
  '',
  '### A person or an operator acts',
  '',
  markdownTable(
    head,
    acts.map(([node, action, storage, start]) => [
      ...rowOf([node, action, storage], start),
      sampleOf(finding(start)),
    ]),
  ),
  '',
  '### Nobody acts, and the cut-off node is still running',
  '',
  'Eviction does not detach the volume. The database is down until the node is back. There are exceptions, and in them the second node mounts the volume without any action:',
  '',
  markdownTable(
    ['Exception', ...head.slice(3, 5)],
    noneActs.map(([pod, start]) => rowOf([pod], start)),
  ),
  '',
  '',
].join('\n');

test('README has what was found, as the store and the runs have it', async () => {
  const worst = counted(finding('cut off, its pod force-deleted'));
  const best = counted(finding('storage cuts the old node off'));
  const page = filled(read('README.md'), { worst, best, answer });
  await expect(page).toMatchFileSnapshot(join(root, 'README.md'));
});
