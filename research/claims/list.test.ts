/** Each procedure's reader: on notes as they should be, on notes that contradict, on none. */
import { expect, test } from 'vitest';
import type { ObservationRecord } from '../../lib/history/events.ts';
import { csiCalls } from '../../lib/history/observations.ts';
import { claims } from './list.ts';
import type { ClaimReading } from './reading.ts';

type Data = Readonly<Record<string, unknown>>;

const seen = (t: number, source: string, name: string, data: Data): ObservationRecord => ({
  ...{ type: 'observation', t, source, name, data },
});
const call = (t: number, name: keyof typeof csiCalls, data: Data = {}): ObservationRecord =>
  seen(t, 'csi', 'csi-call', { call: csiCalls[name], ...data });

function read(number: number, records: readonly ObservationRecord[]): ClaimReading {
  const procedure = claims.find((claim) => claim.number === number)?.procedure;
  return procedure === undefined ? 'there is no procedure' : procedure.read(records);
}

interface Case {
  readonly claim: number;
  readonly notes: readonly (readonly [string, Data])[];
  readonly calls?: readonly ObservationRecord[];
  /** Of the last note: what makes the answer a surprise. */
  readonly surprise: Data;
}

const one = [{ name: 'a', node: 'n', attached: true }];
const status = {
  volume: 'v',
  attached: 'kubernetes.io/csi/disk.forcedetach.dev^v',
  devicePath: '',
};
const cases: readonly Case[] = [
  {
    claim: 2,
    notes: [
      ['controller manager stopped', { attachments: 0, phase: 'Pending' }],
      ['it runs again', { afterS: 9 }],
      ['it goes on', { afterS: 2 }],
      ['kubelet stopped', { attached: true, phase: 'Pending' }],
    ],
    surprise: { attached: false },
  },
  {
    claim: 3,
    notes: [
      ['second node', { disk: 'unfenced', volume: 'a', phase: 'Running', events: [] }],
      ['second node', { disk: 'pending-while-busy', volume: 'b', phase: 'Pending', events: [] }],
    ],
    calls: [call(1, 'publish', { volume: 'b', error: 'FAILED_PRECONDITION: busy' })],
    surprise: { phase: 'Running' },
  },
  {
    claim: 4,
    notes: [
      ['stock', { annotation: 'true' }],
      [
        'kubelet attaches',
        {
          ...{ annotation: null, phase: 'Pending', attachments: [] },
          ...{ failures: ['no'], attachFailures: [] },
        },
      ],
    ],
    surprise: { phase: 'Running' },
  },
  {
    claim: 5,
    notes: [['nobody notices', { attachments: one, ready: 'True', watchMs: 45_000 }]],
    surprise: { attachments: [] },
  },
  {
    claim: 7,
    notes: [
      ['unmount hangs', { watchMs: 45_000, ready: true, attachments: one }],
      ['out-of-service', { afterS: 1, attachments: [], ready: true }],
    ],
    surprise: { attachments: one },
  },
  {
    claim: 15,
    notes: [['flag', { exitCode: 1, said: 'Error: unknown flag: --pod-eviction-timeout' }]],
    surprise: { exitCode: 0 },
  },
  {
    claim: 18,
    notes: [
      ['deleted', one[0] ?? {}],
      ['reconciled', { isBack: true, afterS: 31, phase: 'Running' }],
    ],
    surprise: { isBack: false },
  },
  {
    claim: 19,
    notes: [
      ['before', { volume: 'v', attached: null, devicePath: null, inUse: false }],
      ['after', { volume: 'v', attached: null, devicePath: null, inUse: false }],
      ['running', { ...status, inUse: true }],
    ],
    surprise: { devicePath: 'csi-4711' },
  },
  {
    claim: 26,
    notes: [['two nodes', { attachments: 0, volumesAttached: 0, multiAttach: 0 }]],
    surprise: { attachments: 1 },
  },
  {
    claim: 29,
    notes: [
      ['started', { name: 'a', afterS: 2, stuck: 'Pending' }],
      ['started', { name: 'b', afterS: 1, stuck: 'Pending' }],
      ['started', { name: 'c', afterS: 1, stuck: 'Running' }],
    ],
    surprise: {},
  },
  {
    claim: 30,
    notes: [
      ['ReadWriteOnce', { volume: 'v', phase: 'Running', events: [] }],
      ['ReadWriteOncePod', { volume: 'w', phase: 'Pending', events: ['in use'] }],
    ],
    calls: [
      call(1, 'stage', { volume: 'v' }),
      call(2, 'nodePublish', { volume: 'v' }),
      call(3, 'nodePublish', { volume: 'v' }),
    ],
    surprise: { phase: 'Running' },
  },
  {
    claim: 31,
    notes: [
      ...['made', 'claimed', 'freed'].map((step) => ['volume', { step, phase: '?' }] as const),
      ['lost', { whileDeleting: 'Bound', after: 'Lost' }],
      ['recycled', { phase: 'Failed', message: 'no recycler' }],
    ],
    surprise: { phase: 'Available' },
  },
  {
    claim: 32,
    notes: [
      ['fit', { mib: 32, marks: [] }],
      ['delayed', { before: 'Pending', after: 'Bound' }],
      [
        'provisioner',
        {
          phase: 'Pending',
          annotations: {
            'volume.kubernetes.io/storage-provisioner': 'd',
            'volume.beta.kubernetes.io/storage-provisioner': 'd',
          },
        },
      ],
    ],
    surprise: { annotations: {} },
  },
  {
    claim: 33,
    notes: [
      ['it goes on', { afterS: 1 }],
      ['attacher stopped', { deleting: true, finalizers: ['f'] }],
    ],
    surprise: { deleting: false },
  },
  {
    claim: 34,
    notes: [
      ['flag', { exitCode: 1, said: 'unknown flag' }],
      ['annotated', { attachments: 0, afterS: 3, phase: 'Succeeded' }],
    ],
    surprise: { attachments: 1 },
  },
];

/** `source`: who notes; earlier histories say `seed`. */
const historyOf = (
  { notes, calls = [] }: Case,
  change: Data = {},
  source = 'claim',
): ObservationRecord[] => [
  ...calls,
  ...notes.map(([name, data], index) => {
    const isLast = index === notes.length - 1;
    return seen(10 + index, source, name, isLast ? { ...data, ...change } : data);
  }),
];

test.each(cases)('claim $claim answers as expected', (one) => {
  const reading = read(one.claim, historyOf(one));
  expect(reading).toMatchObject({ asExpected: true });
  if (typeof reading === 'object') expect(reading.said).not.toMatch(/undefined|NaN|\[object/);
  expect(read(one.claim, historyOf(one, {}, 'seed'))).toMatchObject({ asExpected: true });
});

test.each(cases.filter(({ surprise }) => Object.keys(surprise).length > 0))(
  'claim $claim tells a surprise',
  (one) => {
    expect(read(one.claim, historyOf(one, one.surprise))).toMatchObject({ asExpected: false });
  },
);

test.each(cases)('claim $claim has no answer where the procedure ended early', (one) => {
  expect(read(one.claim, [])).toBeTypeOf('string');
  const { notes } = one;
  if (notes.length > 1) expect(read(one.claim, historyOf(one).slice(0, -1))).toBeTypeOf('string');
});

test('claim 20: a slow recreation is a surprise, a missing one is no answer', () => {
  const recreated = (how: string, afterS: number): ObservationRecord =>
    seen(1, 'seed', 'recreated', { how, round: 1, afterS, overlap: how === 'force' });
  const rounds = ['delete', 'force'].flatMap((how) =>
    Array.from({ length: 6 }, () => recreated(how, 2)),
  );
  expect(read(20, rounds)).toMatchObject({ asExpected: true });
  expect(read(20, [...rounds, recreated('force', 90)])).toMatchObject({ asExpected: false });
  expect(read(20, rounds.slice(1))).toBeTypeOf('string');
});

test('every procedure has a case here', () => {
  const covered = new Set([...cases.map(({ claim }) => claim), 20]);
  const own = claims.filter(({ procedure }) => procedure !== undefined);
  expect(own.map(({ number }) => number).filter((number) => !covered.has(number))).toEqual([]);
});
