/** Files: whole ones gone, cut, doubled or flipped; nothing is made anew where it says `damage`. */
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFrames } from '../../../lib/history/segment.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';

const gone =
  (...names: readonly string[]) =>
  (directory: string): void => {
    for (const name of names) rmSync(join(directory, name));
  };

const cutTo =
  (name: string, share: number) =>
  (directory: string): void => {
    const path = join(directory, name);
    truncateSync(path, Math.floor(readFileSync(path).length * share));
  };

/** At the beginning of its last frame. */
const withoutLastFrame =
  (name: string) =>
  (directory: string): void => {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    const { frames } = findFrames(bytes.length, (offset, length) =>
      bytes.subarray(offset, offset + length),
    );
    // A frame's place is that of its body; the last one ends the file.
    const last = frames.at(-2);
    truncateSync(path, last === undefined ? 0 : last.offset + last.head.bytes);
  };

const flipped =
  (name: string) =>
  (directory: string): void => {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    const middle = Math.floor(bytes.length / 2);
    bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
    writeFileSync(path, bytes);
  };

export const files: readonly EvidenceMutant[] = [
  ...(
    [
      ['run-file-gone', gone('run.hist')],
      ['outside-journal-file-gone', gone('writer-outside.hist')],
      ['inside-journal-file-gone', gone('writer-inside.hist')],
      ['both-journal-files-gone', gone('writer-inside.hist', 'writer-outside.hist')],
      ['outside-reads-file-gone', gone('reads-outside.hist')],
      ['inside-reads-file-gone', gone('reads-inside.hist')],
      ['rows-of-the-steady-image-gone', gone('rows-steady.hist')],
      ['run-file-cut-in-the-middle', cutTo('run.hist', 0.5)],
      ['outside-journal-cut-within-a-frame', cutTo('writer-outside.hist', 0.6)],
      ['inside-journal-cut-at-a-frame', withoutLastFrame('writer-inside.hist')],
      ['outside-journal-cut-at-a-frame', withoutLastFrame('writer-outside.hist')],
      ['outside-reads-cut-at-a-frame', withoutLastFrame('reads-outside.hist')],
      ['run-file-cut-at-a-frame', withoutLastFrame('run.hist')],
      ['byte-flipped-in-the-run-file', flipped('run.hist')],
      ['byte-flipped-in-a-journal', flipped('writer-outside.hist')],
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
  // What is not on the image is lost, or was never read: never safe.
  ...(['first', 'second'] as const).map((image) => ({
    name: `rows-of-the-${image}-image-gone`,
    base: 'fenced' as const,
    right: inconclusive,
    damage: gone(`rows-${image}.hist`),
  })),
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
