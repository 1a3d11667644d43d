/**
 * The alerts of manifests/prevention announce what real runs came to: the records of each sample become what
 * Prometheus would have scraped, and promtool evaluates the rules.
 */
import { describe, expect, test } from 'vitest';
import { observed } from '../../lib/history/observations.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { SmallRecord } from '../../lib/history/records.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { mysql } from '../../lib/mysql/database.ts';
import { unpackedRun } from '../support/committed.ts';
import { checkAlerts, hasPromtool, scrapeS, type Scrape } from '../support/alert-series.ts';

if (!hasPromtool) console.warn('skipped: no promtool here (.ci/setup installs it)');

type Seen = Extract<SmallRecord, { type: 'observation' }>;

/** The state of the cluster at each scrape, from the first record on. */
function scrapesOf(folder: string): { scrapes: Scrape[]; originMs: number } {
  const seen = [...openHistory(folder).smallRecords()].filter(
    (record): record is Seen => record.type === 'observation',
  );
  const originMs = seen[0]?.t ?? 0;
  const endMs = seen.at(-1)?.t ?? 0;
  const nodes = new Map<string, boolean>();
  const attachments = new Map<string, Scrape['attachments'][number]>();
  const pods = new Map<string, Scrape['pods'][number]>();
  const forced = { timeout: 0, 'out-of-service': 0 };
  let volume = '';
  const take = ({ name, node = '', data }: Seen): void => {
    const { attachment, pod, uid } = data as Record<string, string>;
    if (name === observed.nodeReady) nodes.set(node, data['status'] === 'True');
    if (name === observed.nodeGone) nodes.delete(node);
    if (name === observed.attachmentCreated || name === observed.attachmentAttached) {
      volume = data['volume'];
      const isAttached = name === observed.attachmentAttached;
      attachments.set(attachment ?? '', { name: attachment ?? '', volume, node, isAttached });
    }
    if (name === observed.attachmentGone) attachments.delete(attachment ?? '');
    if (name === observed.podScheduled) pods.set(uid ?? '', { name: pod ?? '', node, volume });
    if (name === observed.podGone) pods.delete(uid ?? '');
    // The counter moves right before the line; runs beside others in one cluster have the line alone.
    if (name === observed.forceDetachLog)
      forced[data['line'].includes('out-of-service') ? 'out-of-service' : 'timeout'] += 1;
  };
  const scrapes: Scrape[] = [];
  let next = 0;
  for (let atMs = originMs; atMs <= endMs; atMs += scrapeS * 1000) {
    for (; (seen[next]?.t ?? Infinity) <= atMs; next += 1) take(seen[next] as Seen);
    scrapes.push({
      nodes: new Map(nodes),
      attachments: [...attachments.values()],
      pods: [...pods.values()].map((each) => ({ ...each, volume })),
      forced: { ...forced },
    });
  }
  return { scrapes, originMs };
}

/** Seconds after the fault. */
function phasesOf(folder: string): { readonly notReady: number; readonly secondMount: number } {
  const { phases } = assembleVerdict(openHistory(folder), { database: mysql });
  return { notReady: phases.notReady ?? NaN, secondMount: phases.secondMount ?? NaN };
}

const taken = ['VolumeDetachedByForce', 'VolumeTakenFromLostNode'];

const attachment = (node: string, isAttached = true): Scrape['attachments'][number] => ({
  ...{ name: `of-${node}`, volume: 'pv', node, isAttached },
});
const quiet: Scrape = {
  nodes: new Map([
    ['a', true],
    ['b', true],
  ]),
  attachments: [attachment('a')],
  pods: [{ name: 'db', node: 'a', volume: 'pv' }],
  forced: {},
};

const lasting = (scrape: Partial<Scrape>, count = 50): Scrape[] =>
  Array.from({ length: count }, () => ({ ...quiet, ...scrape }));

test.skipIf(!hasPromtool)('what no run came to', () => {
  const lateS = 700;
  checkAlerts([
    { name: 'quiet', scrapes: lasting({}), firing: [{ atS: lateS, alerts: [] }] },
    {
      name: 'two nodes at once',
      scrapes: lasting({ attachments: [attachment('a'), attachment('b')] }, 4),
      firing: [{ atS: 30, alerts: ['VolumeOnTwoNodes'] }],
    },
    {
      name: 'no driver answers',
      scrapes: lasting({ attachments: [attachment('a', false)] }),
      firing: [
        { atS: 590, alerts: [] },
        { atS: lateS, alerts: ['VolumeAttachmentPending'] },
      ],
    },
    {
      name: 'a detach that does not come',
      scrapes: lasting({ pods: [{ name: 'db', node: 'b', volume: 'pv' }] }),
      firing: [
        { atS: 590, alerts: [] },
        { atS: lateS, alerts: ['VolumeAttachmentUnused'] },
      ],
    },
    {
      name: 'the Node is deleted',
      scrapes: [...lasting({}, 4), ...lasting({ nodes: new Map([['b', true]]) }, 10)],
      firing: [
        { atS: 45, alerts: [] },
        { atS: 180, alerts: ['VolumeOnLostNode'] },
      ],
    },
    {
      name: 'an old count, first seen by a new Prometheus',
      scrapes: lasting({ forced: { timeout: 7 } }),
      firing: [0, 15, 300, lateS].map((atS) => ({ atS, alerts: [] })),
    },
    {
      name: 'a new controller manager counts from 0',
      scrapes: [...lasting({ forced: { timeout: 7 } }, 30), ...lasting({}, 10)],
      firing: [{ atS: 480, alerts: [] }],
    },
  ]);
});

describe.skipIf(!hasPromtool)('on real runs', () => {
  test.each([
    'samples/node-crash',
    'samples/partition-force-delete-fenced',
    'samples/partition-force-delete-unfenced',
    'samples/partition-out-of-service',
    'samples/zombie',
    'corpus/controller-restart',
  ])('%s: one alert long before the second mount, two after it, none before the fault', (name) => {
    const folder = name.startsWith('corpus/')
      ? unpackedRun(`reports/${name}.tar.zst`)
      : `reports/${name}`;
    const { notReady, secondMount } = phasesOf(folder);
    const { scrapes, originMs } = scrapesOf(folder);
    const faultMs = [...openHistory(folder).smallRecords()].find(
      (record) => record.type === 'action' && record.actor === 'fault' && record.step === 'done',
    )?.t;
    const faultS = ((faultMs ?? 0) - originMs) / 1000;
    const [lostS, secondS] = [faultS + notReady, faultS + secondMount];
    checkAlerts([
      {
        name,
        scrapes,
        firing: [
          { atS: lostS - scrapeS, alerts: [] },
          { atS: lostS + 60 + 3 * scrapeS, alerts: ['VolumeOnLostNode'] },
          { atS: secondS - 3 * scrapeS, alerts: ['VolumeOnLostNode'] },
          { atS: secondS + 2 * scrapeS, alerts: taken },
        ],
      },
    ]);
    expect(secondS - lostS).toBeGreaterThan(240);
  });
});
