/** Observers that never began, that fell silent, or that ended too early are each named. */
import { describe, expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { tellStory } from '../../timeline/story.ts';
import { observerGaps } from './observer-gaps.ts';
import type { ScenarioInput } from '../scenario.ts';
import { mysql } from '../../mysql/database.ts';

const said = (t: number, name: string, ...sees: readonly string[]): SmallRecord =>
  see(t, name, '', { observer: sees[0], sees });

const everyMs = 20_000;
const times = Array.from({ length: 30 }, (_, index) => everyMs * (index + 1));

const life = (...sees: readonly string[]): SmallRecord[] => [
  said(1, observed.observerBegan, ...sees),
  ...times.map((t) => said(t, observed.observerBeat, ...sees)),
  said(620_000, observed.observerEnded, ...sees),
];

/** A fault at 10 s, the second image at 610 s. */
const about = (fields: Partial<ScenarioInput> = {}): SmallRecord[] => [
  { ...runRecord(fields), schemaVersion: 2 },
  { type: 'action', t: 10_000, actor: 'fault', name: 'freeze', step: 'begin', node: 'a' },
  { type: 'phase', t: 610_000, phase: 'second-image' },
];
const machine: SmallRecord[] = times.map((t) => ({ type: 'machine', t, timerLagMs: 0 }));
const api = life('api');
const disk = life('csi', 'mounts', 'devices');

const gaps = (...parts: readonly (readonly SmallRecord[])[]): string[] =>
  observerGaps(
    tellStory(
      parts.flat().toSorted((a, b) => a.t - b.t),
      mysql,
    ),
  );

test('observers that beat to the end lack nothing', () => {
  expect(gaps(about(), machine, api, disk)).toEqual([]);
});

test('one that never began is named, by each thing that it was to see', () => {
  expect(gaps(about(), machine, disk)).toEqual(['no observer of api ever began']);
  expect(gaps(about(), machine, api)).toHaveLength(3);
  expect(gaps(about({ disk: 'shared-file' }), machine, api)).toHaveLength(2);
});

test('a silence is told with its times; a short one is none', () => {
  const deafFrom = (fromMs: number, toMs: number): SmallRecord[] =>
    api.filter(({ t }) => t <= fromMs || t >= toMs);
  expect(gaps(about(), machine, deafFrom(100_000, 300_000), disk)).toEqual([
    'the observer of api was silent from 100.0 s to 300.0 s',
  ]);
  expect(gaps(about(), machine, deafFrom(100_000, 160_000), disk)).toEqual([]);
});

test('one that fell silent for good, or closed in mid-run, is told', () => {
  const died = api.filter(({ t }) => t <= 300_000);
  expect(gaps(about(), machine, died, disk)).toEqual([
    'the observer of api was silent from 300.0 s to 610.0 s',
    'the observer of api never ended in good order',
  ]);
  const closed = [...api.slice(0, -1), said(600_000, observed.observerEnded, 'api')];
  expect(gaps(about(), machine, closed, disk)).toEqual([
    'the observer of api ended at 600.0 s, before the second image',
  ]);
});

test('where the API server stands still nobody is told, and the model’s machine is not watched', () => {
  expect(gaps(about({ fault: 'api-outage' }), machine, disk)).toEqual([]);
  expect(gaps(about(), api, disk)).toEqual(['nothing observed the machine from 10.0 s to 610.0 s']);
  const [run, ...rest] = about();
  const onModel = { ...run, basis: 'predicted' } as SmallRecord;
  expect(gaps([onModel, ...rest], api, disk)).toEqual([]);
});

test('of a real backend all is asked, whatever its name', () => {
  const [run, ...rest] = about();
  const third = { ...run, schemaVersion: 3, backend: 'vm' } as SmallRecord;
  expect(gaps([third, ...rest], api, disk)).toEqual([
    'no observer of controller-manager ever began',
    'no observer of audit ever began',
    'nothing observed the machine from 10.0 s to 610.0 s',
  ]);
});

test('a history of version 1 has no beats, and needs none', () => {
  const [, ...rest] = about();
  expect(gaps([runRecord(), ...rest])).toEqual([]);
});

describe('of version 3', () => {
  const newer = ([run, ...rest]: readonly SmallRecord[]): SmallRecord[] => [
    { ...run, schemaVersion: 3 } as SmallRecord,
    ...rest,
  ];
  const logs = [...life('controller-manager'), ...life('audit')];
  const others = [...machine, ...api, ...disk];

  test('the followers of the control plane’s logs are asked for as well', () => {
    expect(gaps(newer(about()), others, logs)).toEqual([]);
    expect(gaps(newer(about()), others)).toEqual([
      'no observer of controller-manager ever began',
      'no observer of audit ever began',
    ]);
    const deaf = logs.filter(({ t }) => t < 200_000 || t > 400_000);
    expect(gaps(newer(about()), others, deaf)).toEqual([
      'the observer of controller-manager was silent from 180.0 s to 420.0 s',
      'the observer of audit was silent from 180.0 s to 420.0 s',
    ]);
  });

  test('one that went with the victim’s node is excused until it is there again, elsewhere not', () => {
    const onNode = (node: string): SmallRecord[] => [
      ...life('csi')
        .filter(({ t }) => t <= 100_000 || t >= 400_000)
        .map((record) => ({ ...record, node }) as SmallRecord),
      {
        ...see(130_000, observed.observerEnded, node, {
          ...{ observer: 'csi', sees: ['csi'] },
          reason: 'the node is switched off',
        }),
      },
    ];
    const rest = [...machine, ...api, ...life('mounts', 'devices'), ...logs];
    expect(gaps(newer(about()), rest, onNode('a'))).toEqual([]);
    expect(gaps(newer(about()), rest, onNode('b'))).toEqual([
      'the observer of csi on b was silent from 100.0 s to 400.0 s',
      'the observer of csi on b ended at 130.0 s, before the second image',
    ]);
  });
});
