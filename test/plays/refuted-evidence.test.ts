/** A committed safe run with one class of its evidence altered is never safe; as it was it is. */
import { expect, test } from 'vitest';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import type { SmallRecord } from '../../lib/history/records.ts';
import { type ObservationRecord, observed } from '../../lib/history/observations.ts';
import { openHistory, type History } from '../../lib/history/reader.ts';
import { tellStory } from '../../lib/judge/timeline/story.ts';
import { mysql } from '../../lib/mysql/database.ts';

const history = openHistory('reports/samples/partition-force-delete-fenced');
const records = [...history.smallRecords()];
const story = tellStory(records, mysql);
const { faultAtMs = 0, victimNode } = story;

type Change = (record: SmallRecord) => SmallRecord | undefined;

function altered(change: Change): History {
  const changed = records.map(change).filter((record) => record !== undefined);
  // A change that changes nothing proves nothing.
  expect(changed).not.toEqual(records);
  return { ...history, smallRecords: () => changed.values() as Generator<SmallRecord> };
}

const without =
  (goes: (record: SmallRecord) => boolean): Change =>
  (record) =>
    goes(record) ? undefined : record;

const isSeen =
  (fits: (observation: ObservationRecord) => boolean) =>
  (record: SmallRecord): boolean =>
    record.type === 'observation' && record.t >= faultAtMs && fits(record);

const toTrue: Change = (record) =>
  isSeen(({ name, node }) => name === observed.nodeReady && node === victimNode)(record)
    ? ({ ...record, data: { status: 'True' } } as SmallRecord)
    : record;

const certificateAt = (moment: string): Change =>
  without((record) => record.type === 'certificate' && record.moment === moment);

test('as it was recorded it is safe', () => {
  expect(assembleVerdict(history, { database: mysql })).toMatchObject({
    verdict: 'safe',
    incompleteBecause: [],
  });
});

test.each<[string, Change, RegExp]>([
  [
    'no API observation after the fault',
    without(isSeen((each) => each.source === 'api')),
    /whether Kubernetes has lost the node .* lost by the runner/,
  ],
  ['the victim Ready throughout', toTrue, /ready by the API’s observer, lost by the runner/],
  ['no certificate from before', certificateAt('before'), /found its victim whole/],
  ['no certificate from meanwhile', certificateAt('during'), /took effect/],
  ['no certificate from after', certificateAt('after'), /was healed/],
  [
    'mounts that nobody saw',
    without(isSeen(({ source }) => source === 'mounts')),
    /not mounted by the mounts’ observer, mounted by the driver/,
  ],
  [
    'calls that nobody logged',
    without(isSeen(({ source }) => source === 'csi')),
    /mounted by the mounts’ observer, not mounted by the driver/,
  ],
  [
    'devices that nobody saw',
    without(isSeen(({ source }) => source === 'devices')),
    /bytes written .* by the disk’s log of writes/,
  ],
])('%s: inconclusive', (_, change, because) => {
  const { verdict, incompleteBecause } = assembleVerdict(altered(change), { database: mysql });
  expect(verdict).toBe('inconclusive');
  expect(incompleteBecause.join('\n')).toMatch(because);
});

test('97 commits of the victim that an outside client was told of: inconclusive', () => {
  const own = [...history.answers()].find(
    (answer) =>
      answer.type === 'session' &&
      answer.client === 'outside' &&
      answer.server?.node === victimNode,
  );
  if (own?.type !== 'session') throw new Error('no outside client was on the victim');
  const { client, connection, session } = own;
  const told = Array.from({ length: 97 }, (_, index) => ({
    ...({ type: 'outcome', client, connection, session, outcome: 'ok' } as const),
    ...{ seq: 1_000_000 + index, t: faultAtMs + 120_000 + index },
  }));
  const lying: History = {
    ...history,
    // Who listens to the journals hears them as they are.
    answers: (heard) =>
      [...history.answers(heard), ...told].toSorted((a, b) => a.t - b.t).values() as ReturnType<
        History['answers']
      >,
  };
  const { verdict, incompleteBecause } = assembleVerdict(lying, { database: mysql });
  expect(verdict).toBe('inconclusive');
  expect(incompleteBecause).toEqual([
    expect.stringMatching(/^whether the node answers outside clients .* silent by the runner/),
  ]);
});
