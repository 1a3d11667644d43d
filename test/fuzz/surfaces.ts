/** What each command reads, beside its flags: which files, how they are given, how it may end. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { RandomStream } from '../../lib/core/random.ts';
import type { Bases } from './bases.ts';
import { damage, damageNames, replacements } from './bytes.ts';
import { pick, type Surface } from './case.ts';
import { nameOf, pathsIn, strange, type Path } from './documents.ts';

/** A command line that is given a file, or the folder with it. */
export interface Reader {
  readonly args: (folder: string) => readonly string[];
  /** Right where a file may be damaged and still be read, or be none of those that must be there. */
  readonly allowed: readonly number[];
  /** What refuses it: 2 of what people write, 3 of what is evidence. */
  readonly refuses: number;
}

/** The file as text, and whether it is JSON or YAML. */
interface Text {
  readonly file: string;
  readonly text: string;
}

/** Every value of a document, made strange. */
export function documentSurface(
  name: string,
  { args, allowed }: Reader,
  { file, text }: Text,
  prepare: (folder: string) => void = () => undefined,
): Surface {
  const document: unknown = parse(text);
  const paths = new Map(pathsIn(document).map((path) => [nameOf(path), path]));
  return {
    name,
    fields: [...paths.keys()],
    make(field, draws, folder) {
      prepare(folder);
      const changed = strange(document, paths.get(field) ?? [], draws);
      const print = /\.jsonl?$/.test(file) ? JSON.stringify : stringify;
      writeFileSync(join(folder, file), `${print(changed.document)}\n`);
      return { args: args(folder), how: changed.how, allowed };
    },
  };
}

/** A file cut, changed or replaced; `certain`: whatever is done to it must be refused. */
export function bytesSurface(
  name: string,
  { args, allowed, refuses }: Reader,
  files: readonly string[],
  prepare: (folder: string) => void,
): Surface {
  return {
    name,
    fields: files.flatMap((file) => {
      const isFolder = !basename(file).includes('.');
      return (isFolder ? replacements : damageNames).map((how) => `${file}: ${how}`);
    }),
    make(field, draws, folder) {
      prepare(folder);
      const [file = '', how = ''] = field.split(': ');
      const isCertain = damage(join(folder, file), how, draws);
      const isOnlyOne = files.length === 1;
      return { args: args(folder), how, allowed: isCertain && isOnlyOne ? [refuses] : allowed };
    },
  };
}

/** Both of one text. */
export const textSurfaces = (name: string, reader: Reader, source: Text): Surface[] => [
  documentSurface(`${name}, its values`, reader, source),
  bytesSurface(`${name}, its bytes`, reader, [source.file], (folder) =>
    writeFileSync(join(folder, source.file), source.text),
  ),
];

/** A run's folder: each of its files, and what a file of another name means there. */
export function runSurface(reader: Reader, bases: Bases, files: readonly string[]): Surface {
  const paths = [...files.map((file) => join('history', file)), 'history'];
  return bytesSurface('run folder', reader, paths, bases.run);
}

/** Lines of a tail: what a writer that was killed left, with one of them made strange. */
export function tailSurface({ args, allowed }: Reader, bases: Bases): Surface {
  const head = { first: 0 };
  const lines: readonly object[] = [
    { type: 'observation', t: 5, wall: 5, source: 's', name: 'n', node: 'victim', data: { a: 1 } },
    { type: 'action', t: 6, actor: 'fault', name: 'freeze', step: 'begin', node: 'victim' },
    { type: 'session', t: 7, client: 'outside', connection: 0, session: 1, error: 'refused' },
    {
      type: 'certificate',
      t: 8,
      fault: 'f',
      moment: 'during',
      claim: 'c',
      holds: true,
      evidence: 'e',
    },
    { type: 'machine', t: 9, timerLagMs: 3, cpuPressure: 0.5 },
    { type: 'error', t: 10, where: 'here', message: 'm' },
    { type: 'phase', t: 11, phase: 'heal' },
  ];
  const document = [head, ...lines];
  const paths = new Map<string, { readonly index: number; readonly path: Path }>(
    document.flatMap((line, index) =>
      pathsIn(line).map((path) => [`${index}.${nameOf(path)}`, { index, path }]),
    ),
  );
  return {
    name: 'tail of a journal',
    fields: [...paths.keys()],
    make(field, draws, folder) {
      bases.run(folder);
      const { index, path } = paths.get(field) ?? { index: 0, path: [] };
      const changed = strange(document[index], path, draws);
      const all = document.with(index, changed.document as object);
      writeFileSync(join(folder, 'history', 'more.hist'), '');
      writeFileSync(
        join(folder, 'history', 'more.tail.jsonl'),
        all.map((line) => `${tornOrWhole(JSON.stringify(line), draws)}\n`).join(''),
      );
      return { args: args(folder), how: changed.how, allowed };
    },
  };
}

/** Now and then a line is cut, or has bytes of zero in it. */
function tornOrWhole(line: string, draws: RandomStream): string {
  if (draws.int(0, 9) > 0) return line;
  const at = draws.int(0, line.length);
  return pick(draws, [line.slice(0, at), `${line.slice(0, at)}\0\0\0\0`, `\u001b[2J${line}`]);
}
