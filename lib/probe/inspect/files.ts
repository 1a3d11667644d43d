/** Files of an incident as people collect them: found by their content, line by line, compressed or rotated. */
import { closeSync, createReadStream, readSync } from 'node:fs';
import { join, relative } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { mebibyte, openInput, readFolder } from '../../core/index.ts';

/** Where a record stands. */
export interface Place {
  readonly file: string;
  /** From 1 on. */
  readonly line: number;
}

export const placeInWords = ({ file, line }: Place): string => `${file}:${line}`;

/** Regular files at any depth, by their paths from the folder. Throws UsageError `FOLDER_UNREADABLE`. */
export function filesIn(folder: string, below = folder): string[] {
  return readFolder(below)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(below, entry.name);
      if (entry.isDirectory()) return filesIn(folder, path);
      return entry.isFile() ? [relative(folder, path)] : [];
    });
}

/** A line longer than this is cut: no record that counts is. */
const longestLine = 4 * mebibyte;

export type Packing = 'gzip' | 'zstd' | undefined;

/** The lines of a file, unpacked, some at a time. Throws where the file is damaged. */
export async function* linesIn(path: string): AsyncGenerator<string[]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const stream = createReadStream(path, { highWaterMark: mebibyte / 4 });
  const packing = packingOf(path);
  const source =
    packing === undefined
      ? stream
      : stream.pipe(packing === 'gzip' ? createGunzip() : createZstdDecompress());
  stream.on('error', (error) => source.destroy(error));
  try {
    for await (const part of source as AsyncIterable<Buffer>) {
      const texts = (rest + decoder.write(part)).split('\n');
      rest = texts.pop() ?? '';
      yield texts;
      if (rest.length > longestLine) rest = rest.slice(0, longestLine);
    }
  } finally {
    stream.destroy();
  }
  if (rest !== '') yield [rest];
}

export function packingOf(path: string): Packing {
  const head = Buffer.alloc(4);
  const file = openInput(path);
  try {
    readSync(file, head, 0, 4, 0);
  } finally {
    closeSync(file);
  }
  if (head.readUInt16BE() === 0x1f8b) return 'gzip';
  return head.readUInt32LE() === 0xfd2fb528 ? 'zstd' : undefined;
}

/** What a line of a log has around what its program wrote. */
export interface Wrapped {
  readonly text: string;
  /** Stamped by the runtime. Unix ms. */
  readonly wallMs?: number;
  /** Named by the journal. */
  readonly host?: string;
}

const cri = /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) (?:(?:stdout|stderr) [FP] )?(.*)$/;
const journal = /^[A-Z][a-z]{2} [ \d]\d [\d:.]+ (\S+) [\w./@-]+(?:\[\d+\])?: (.*)$/;

/** Without what a container’s runtime, `kubectl logs --timestamps` or a journal put before it. */
export function unwrapped(line: string): Wrapped {
  if (line.startsWith('20')) {
    const [, time, text] = cri.exec(line) ?? [];
    // A database stamps its own lines so, too: then its text has no stamp behind it.
    if (time !== undefined && text !== undefined && isStamped(text))
      return { text, wallMs: Date.parse(time) };
  } else if (line.startsWith('{"log":')) {
    try {
      const { log, time = '' } = JSON.parse(line) as { log: string; time?: string };
      const wallMs = Date.parse(time);
      return { text: log.trimEnd(), ...(Number.isNaN(wallMs) ? {} : { wallMs }) };
    } catch {
      return { text: line };
    }
  }
  const [, host, text] = journal.exec(line) ?? [];
  return host === undefined || text === undefined ? { text: line } : { text, host };
}

const isStamped = (text: string): boolean =>
  /^([IWEF]\d{4} |\{|\d{4}-\d\d-\d\d[T ]|\[\w{3} \w{3})/.test(text);

/** What rotated pieces of one log have in common. */
export const streamOf = (file: string): string =>
  file.replace(/(\.(gz|zst)|[.-]\d[\dT.:_Z-]*(?=$|\.(log|gz|zst)))+$/g, '').replace(/\.log$/, '');
