/** Two certificates of a class, before and after an upgrade: what changed, and whether the answer did. */
import { markdownTable } from '../../core/index.ts';
import { answerWord } from '../judge/measured.ts';
import { countWords } from '../texts.ts';
import { certificateText } from '../certificate.ts';
import { type ClassRow, classRowOf } from './driver-file.ts';

export interface Comparison {
  /** A Markdown table. */
  readonly text: string;
  /** Undefined where one of the two is undecided. */
  readonly isSame: boolean | undefined;
}

/** Judges both again by the rules of today. Throws UsageError `FILE_…` and `NO_CERTIFICATE`. */
export function compareCertificates(before: string, after: string): Comparison {
  const [a, b] = [rowIn(before), rowIn(after)];
  const pairs = (of: typeof factsOf, mark: string): string[][] =>
    of(a).map(([what, value], index) => {
      const other = of(b)[index]?.[1] ?? '';
      return [what, value, other, value === other ? '' : mark];
    });
  const figures = [...new Set([...a.figures, ...b.figures].map(({ what }) => what))].map((what) => [
    ...[what, figureOf(a, what), figureOf(b, what), ''],
  ]);
  const isDecided = a.modes.length > 0 && b.modes.length > 0;
  return {
    text: markdownTable(
      ['', 'before', 'after', ''],
      [...pairs(factsOf, 'changed'), ...pairs(countsOf, ''), ...figures],
    ),
    isSame: isDecided ? answerOf(a) === answerOf(b) : undefined,
  };
}

const rowIn = (path: string): ClassRow => classRowOf(certificateText(path), path);

const answerOf = ({ mode, modes }: ClassRow): string =>
  answerWord({ modes, mode: mode ?? undefined });

const factsOf = (row: ClassRow): [string, string][] => [
  ['answer', answerOf(row)],
  ['class', row.name],
  ['parameters', JSON.stringify(row.parameters)],
  ['driver images', row.images.join(', ')],
  ['Kubernetes', row.kubernetes],
  ['volumes', `${row.volumes} as ${row.volumeMode}, watched for ${row.horizonMs / 1000} s`],
];

/** Counts and times differ from run to run: they are shown, and never called changed. */
const countsOf = (row: ClassRow): [string, string][] => [
  ['kept', countWords(row.counts.kept)],
  ['idle', countWords(row.counts.idle)],
  ['contested', countWords(row.counts.contested)],
  ['next pod', countWords(row.next)],
  ['notes', row.notes.join('; ')],
];

function figureOf({ figures }: ClassRow, what: string): string {
  const found = figures.find((figure) => figure.what === what);
  return found === undefined
    ? '–'
    : `p50 ${found.p50Ms} ms, most ${found.mostMs} ms (n = ${found.n})`;
}
