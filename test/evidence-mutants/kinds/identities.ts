/** Volumes and copies that are not those which they are told to be. */
import type {
  CopyRecord,
  HistoryRecord,
  ImageRecord,
  SetupRecord,
} from '../../../lib/history/records.ts';
import type { ImageEvidence, ImageLabel, CopyIdentity } from '../../../lib/history/evidence.ts';
import {
  add,
  and,
  both,
  change,
  drop,
  from,
  healAt,
  ofType,
  saw,
  type Alteration,
} from '../edit.ts';
import type { HeldRun, TimedRecord } from '../held-run.ts';
import { observed } from '../../../lib/history/observations.ts';
import { inconclusive, type EvidenceMutant } from '../mutant.ts';

const ofImage =
  (type: 'copy' | 'image', label: ImageLabel) =>
  (record: TimedRecord): boolean =>
    record.type === type && record.image === label;

/** Its maker tells this of the copy. */
const made = (label: ImageLabel, about: Partial<CopyIdentity>): Alteration =>
  change(ofImage('copy', label), (record: CopyRecord) => ({
    ...record,
    made: { ...record.made, ...about },
  }));

/** Its opener does. */
const opened = (label: ImageLabel, about: Partial<CopyIdentity>): Alteration =>
  change(ofImage('image', label), ({ evidence, ...record }: ImageRecord) => ({
    ...record,
    evidence: { ...evidence, opened: { ...evidence.opened, ...about } },
  }));

const toldAlike = (label: ImageLabel, about: Partial<CopyIdentity>): Alteration =>
  both(made(label, about), opened(label, about));

const uuid = '00000000-0000-4000-8000-000000000009';

/** The file system that an audit read. */
const readAs = (label: ImageLabel, serverUuid?: string): Alteration =>
  change(ofImage('image', label), ({ evidence, ...record }: ImageRecord) => ({
    ...record,
    evidence: { ...servedBy(evidence, serverUuid), filesystemUuid: uuid },
  }));

/** A server's GTIDs have its UUID. */
const servedBy = (evidence: ImageEvidence, uuid = evidence.serverUuid ?? ''): ImageEvidence =>
  JSON.parse(
    JSON.stringify(evidence).replaceAll(evidence.serverUuid ?? uuid, uuid),
  ) as ImageEvidence;

/** Each is audited, and told as the other. */
const swapped = (run: HeldRun): void => {
  const images = run.segments.get('run')?.records.filter((record) => record.type === 'image') ?? [];
  const [first, second] = (['first', 'second'] as const).map((label) =>
    images.find(({ image }) => image === label),
  );
  if (first === undefined || second === undefined) return;
  change(ofType('image'), (record: ImageRecord) => {
    if (record.image === 'first') return { ...record, evidence: second.evidence };
    return record.image === 'second' ? { ...record, evidence: first.evidence } : record;
  })(run);
  const rows = [run.segments.get('rows-first'), run.segments.get('rows-second')] as const;
  const [ofFirst, ofSecond] = rows.map((segment) => segment?.records ?? []);
  const as = (image: ImageLabel, records: readonly HistoryRecord[] = []): HistoryRecord[] =>
    records.map((record) => (record.type === 'row' ? { ...record, image } : record));
  if (rows[0] !== undefined) rows[0].records = as('first', ofSecond);
  if (rows[1] !== undefined) rows[1].records = as('second', ofFirst);
};

/** All that the first copy was is told of the second. */
const sameCopy = (run: HeldRun): void => {
  const copy = run.segments
    .get('run')
    ?.records.find((record) => record.type === 'copy' && record.image === 'first');
  if (copy?.type === 'copy') toldAlike('second', copy.made)(run);
};

const alterations: readonly (readonly [string, Alteration])[] = [
  ['first-and-second-audited-as-each-other', swapped],
  ['second-copy-is-the-first', sameCopy],
  ['copy-changed-before-its-audit', opened('second', { stamp: '1-2' })],
  ['copy-has-other-blocks', opened('first', { digest: 'f'.repeat(64) })],
  ['copy-is-shorter', opened('second', { bytes: 4096 })],
  ['copy-of-another-volume', toldAlike('second', { volume: 'fd-another' })],
  ['copy-of-an-earlier-attachment', toldAlike('second', { generation: 1 })],
  [
    'steady-copy-of-another-file-system',
    both(toldAlike('steady', { filesystemUuid: uuid }), readAs('steady')),
  ],
  ['copies-never-told', drop(ofType('copy'))],
  ['second-copy-never-told', drop(ofImage('copy', 'second'))],
  [
    'audit-does-not-say-what-it-opened',
    change(ofType('image'), ({ evidence, ...record }: ImageRecord) => {
      const { opened: _opened, ...others } = evidence;
      return { ...record, evidence: others };
    }),
  ],
  [
    'copy-made-before-it-was-asked-for',
    change(ofImage('copy', 'second'), (record: CopyRecord) => ({
      ...record,
      t: record.t - 30_000,
    })),
  ],
  [
    'image-told-as-of-earlier',
    change(ofImage('image', 'second'), (record: ImageRecord, run) => ({
      ...record,
      takenAtMs: healAt(run) + 1,
    })),
  ],
  [
    'image-told-as-of-later',
    change(ofImage('image', 'first'), (record: ImageRecord, run) => ({
      ...record,
      takenAtMs: healAt(run) - 1,
    })),
  ],
  [
    'volume-never-told',
    change(ofType('setup'), ({ volume: _volume, ...record }: SetupRecord) => record),
  ],
  [
    'run-began-with-another-volume',
    change(ofType('setup'), (record: SetupRecord) => ({
      ...record,
      volume: { volume: 'fd-another', filesystemUuid: uuid, serverUuid: uuid },
    })),
  ],
  [
    'driver-serves-another-volume',
    change(and(from('csi'), saw(observed.csiCall)), (record: { readonly data: object }) => ({
      ...record,
      data: { ...record.data, volume: 'fd-another' },
    })),
  ],
  [
    'second-image-audited-twice',
    add(({ segments }) =>
      (segments.get('run')?.records ?? []).filter(
        (record): record is ImageRecord => record.type === 'image' && record.image === 'second',
      ),
    ),
  ],
];

export const identities: readonly EvidenceMutant[] = [
  ...alterations.map(([name, alter]) => ({
    name,
    base: 'fenced' as const,
    right: inconclusive,
    alter,
  })),
  // Copy and audit agree on it: it is this volume, and there is nothing of the run's on it any more.
  {
    name: 'formatted-anew-after-the-heal',
    base: 'fenced',
    right: ['corrupt'],
    alter: both(toldAlike('second', { filesystemUuid: uuid }), readAs('second', uuid)),
  },
];
