/** Whether the storage path survived a cut: by made-up writers, and by all cuts that are committed. */
import { type StoragePath, classifyCut, storagePathOf } from './cut.ts';
import { type CutRecord, type CutVolume, emptyJournal } from './record.ts';
import { readCutCertificate } from '../certificate.ts';
import { cutsIn, driverVersions } from '../../../scripts/driver-files.ts';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** The cut is at 100 s, the remedy at 120 s, somebody asks for the detach at 180 s, the heal is at 400 s. */
function recordOf(lastMs: number, more: Partial<CutVolume> = {}): CutRecord {
  const writes = Array.from({ length: 3100 }, (_, seq) => ({
    ...{ seq, begunMs: 95_000 + seq * 100, tookMs: 1 },
  }));
  const volume: CutVolume = {
    ...{ name: 'cut-1', storageClass: 'fast', variant: 'contested', claim: 'cut-1', events: [] },
    ...{ deleteAskedMs: 120_000, watchEndedMs: 415_000, clockOffsetMs: 0, clockErrorMs: 250 },
    attachments: [
      {
        uid: 'u',
        firstSeenMs: 80_000,
        unaskedMs: 179_500,
        deletingMs: 180_000,
        lastSeenMs: 180_000,
      },
    ],
    writerJournal: {
      ...emptyJournal,
      writes: writes.map((write) => (write.begunMs > lastMs ? { ...write, error: 'EIO' } : write)),
    },
    ...{ nextJournal: emptyJournal, goneMs: 182_000, thereUntilMs: 181_500 },
    ...more,
  };
  return { cutMs: 100_000, healedMs: 400_000, checked: true, looks: [], volumes: [volume] };
}

const lateLook = [
  { uid: 'u', firstSeenMs: 80_000, unaskedMs: 165_000, deletingMs: 180_000, lastSeenMs: 180_000 },
];

test.each<[StoragePath, string, CutRecord]>([
  ['survived', 'it wrote to the heal', recordOf(Infinity)],
  ['survived', 'it wrote until its detach', recordOf(180_100)],
  ['cut', 'it wrote no more from the cut on', recordOf(101_000)],
  ['cut', 'it stopped before anybody asked', recordOf(170_000)],
  ['unknown', 'nobody looked while it stopped', recordOf(170_000, { attachments: lateLook })],
  ['unknown', 'its journal is not there', recordOf(1, { writerJournal: emptyJournal })],
  [
    'unknown',
    'lines of it are missing',
    recordOf(1, { writerJournal: { ...emptyJournal, gaps: 1 } }),
  ],
])('%s: %s', (path, _, record) => {
  expect(storagePathOf(record, 'fast')).toBe(path);
});

/** As an OOM kill, or a write that never ends. */
test('of a writer that only falls silent nobody knows what stopped it', () => {
  const [volume] = recordOf(101_000).volumes;
  const { writes = [] } = volume?.writerJournal ?? {};
  const silent = { ...emptyJournal, writes: writes.filter(({ error }) => error === undefined) };
  expect(storagePathOf(recordOf(101_000, { writerJournal: silent }), 'fast')).toBe('unknown');
});

test('a class that is not under the cut, and a cut that nobody saw', () => {
  expect(storagePathOf(recordOf(Infinity), 'other')).toBe('unknown');
  const { cutMs: _, ...unseen } = recordOf(Infinity);
  expect(storagePathOf(unseen, 'fast')).toBe('unknown');
});

const root = fileURLToPath(new URL('../../../test/fixtures/certificates/', import.meta.url));
const cuts = driverVersions(root).flatMap(({ driver, version }) => cutsIn(root, driver, version));

describe.each(cuts)('$name', ({ text }) => {
  const { record, plan } = readCutCertificate(text);
  test.each(record.volumes.map((volume) => [volume.storageClass, volume] as const))(
    '%s: what was named a mode rests on a path that survived',
    (storageClass, volume) => {
      const { outcome, modes } = classifyCut(record, volume, plan.remedy);
      const path = storagePathOf(record, storageClass);
      if (modes.length > 0) expect(path).toBe('survived');
      expect(path === 'cut').toBe(outcome === 'path-cut');
    },
  );
});
