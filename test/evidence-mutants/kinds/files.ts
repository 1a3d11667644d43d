/** Bytes of files, flipped or another run's, and numbers beyond all bounds. Frames: test/plays/missing-journals.test.ts. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bases, type BaseName } from '../bases.ts';
import { change, type Alteration } from '../edit.ts';
import type { TimedRecord } from '../held-run.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';

const gone =
  (...names: readonly string[]) =>
  (directory: string): void => {
    for (const name of names) rmSync(join(directory, name));
  };

/** One bit, so far into the file. */
const flipped =
  (name: string, share = 0.5) =>
  (directory: string): void => {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    const place = Math.floor((bytes.length - 1) * share);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };

/** Names in the history of each base. */
const all = [
  ...['run', 'rows-steady', 'rows-first', 'rows-second', 'writer-inside', 'writer-outside']
    .concat('reads-inside', 'reads-outside')
    .map((name) => `${name}.hist`),
  ...['writes.log.zst', 'paths.json'],
];

/** Of another run, in the place of this one's. */
const swapped =
  (base: Exclude<BaseName, 'untouched'>, ...names: readonly string[]) =>
  (directory: string): void => {
    const other = fileURLToPath(
      new URL(`../../../reports/samples/${bases[base]}/`, import.meta.url),
    );
    for (const name of names) {
      copyFileSync(join(other, 'history', name), join(directory, name));
    }
  };

/** The first record of that type gets these fields; all seals are made again. */
const oversized = (type: TimedRecord['type'], fields: object): Alteration => {
  let isFirst = true;
  return change(
    (record) => record.type === type && isFirst,
    (record: object) => {
      isFirst = false;
      return { ...record, ...fields };
    },
  );
};

/** Numbers that a reader would allocate or loop by. */
const sizes: readonly Pick<EvidenceMutant, 'name' | 'alter' | 'files'>[] = [
  { name: 'sequence-number-of-billions', alter: oversized('outcome', { seq: 3e9 }) },
  { name: 'connection-number-of-billions', alter: oversized('session', { connection: 3e9 }) },
  { name: 'a-time-of-millennia', alter: oversized('machine', { t: 1e15 }) },
  {
    name: 'volume-of-an-exbibyte',
    files: (directory): void => {
      const path = join(directory, 'paths.json');
      const about = JSON.parse(readFileSync(path, 'utf8')) as object;
      writeFileSync(path, JSON.stringify({ ...about, sizeBytes: 2 ** 60 }));
    },
  },
];

export const files: readonly EvidenceMutant[] = [
  ...(
    [
      ...all.flatMap((file) => [
        ...[0, 0.03, 0.5, 0.97, 1].map(
          (share) => [`bit-flipped-in-${file}-at-${share}`, flipped(file, share)] as const,
        ),
        // The images of a corrupt run are in its run.hist, and prove what they prove.
        ...(file === 'run.hist'
          ? []
          : [[`${file}-of-a-corrupt-run`, swapped('damaged', file)] as const]),
        [`${file}-of-a-run-that-lost`, swapped('lost', file)] as const,
      ]),
      ['log-and-paths-of-another-run', swapped('damaged', 'writes.log.zst', 'paths.json')],
      ['rows-of-another-run', swapped('damaged', ...all.filter((file) => file.startsWith('rows')))],
      [
        'journals-of-another-run',
        swapped('lost', ...all.filter((file) => file.startsWith('writer'))),
      ],
      [
        'journal-is-a-copy-of-the-other',
        (directory: string): void =>
          copyFileSync(
            join(directory, 'writer-inside.hist'),
            join(directory, 'writer-outside.hist'),
          ),
      ],
    ] as const
  ).map(([name, damage]) => ({ name, base: 'fenced' as const, right: inconclusive, damage })),
  ...sizes.map((size) => ({ ...size, base: 'fenced' as const, right: inconclusive })),
  {
    name: 'damaged-run-without-a-journal',
    base: 'damaged',
    right: orWorse,
    damage: gone('writer-inside.hist'),
  },
  {
    name: 'lost-run-without-one-journal',
    base: 'lost',
    // What the other journal proves to be lost is lost; the rows of the missing one are no phantoms.
    right: ['inconclusive', 'lost'],
    damage: gone('writer-inside.hist'),
  },
];
