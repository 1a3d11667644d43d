/** A folder that can be sent: the records that count, with every word replaced that is neither Kubernetes’ nor a program’s own. */
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { UsageError, readText } from '../../core/index.ts';
import { driversCalled } from '../../scenario/index.ts';
import { linesIn, packingOf } from './files.ts';
import { type Incident, attachmentName } from './incident.ts';
import type { Collected } from './read.ts';

const [, fieldsKept = '', wordsKept = ''] = readText(
  new URL('../../../data/kept-words.txt', import.meta.url),
).split('\n\n');
const wordsOf = (text: string): string[] => text.split(/\s+/);
/** Fields of objects and requests that are kept; all others are left out. */
const fields = new Set(wordsOf(fieldsKept));
/** Their keys are names, too. */
const maps = new Set(['labels', 'parameters']);
/** Their values are the API’s own words. */
const enumerated = new Set(wordsOf('kind type reason status effect accessModes level stage'));

const sign = String.raw`[\p{L}\p{N}\p{M}]`;
/** A time stays as it is. An address is one word, and so is what hyphens join. */
const token = new RegExp(
  [
    String.raw`(?<time>\d{4}-\d\d-\d\d(?:[T ]\d\d[:-]\d\d[:-]\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)(?!${sign})`,
    String.raw`(?<clock>[IWEF]\d{4}(?= \d\d:)|\d\d:\d\d:\d\d(?:\.\d+)?(?!:)|20\d{6}(?:-\d{6})?|\d+\.\d{6}(?=\]))(?!${sign})`,
    String.raw`(?<four>\d{1,3}(?:\.\d{1,3}){3})(?!\.?\d|${sign})`,
    String.raw`(?<six>[\da-fA-F]*(?::[\da-fA-F]*){2,})(?!${sign})`,
    String.raw`(?<word>${sign}+(?:-(?!\d{4}-\d\d-\d\d)${sign}+)*)`,
  ]
    .map((each) => `(?<!${sign})${each}`)
    .join('|'),
  'gu',
);

/** The same word is replaced alike everywhere, two never by one: what was equal, or a part of a path, stays so. */
class Words {
  readonly #made = new Map<string, string>();
  readonly #kept = new Set([...wordsOf(wordsKept), ...fields]);
  /** Names that a file’s name may have between hyphens. */
  readonly #inner: readonly string[];

  constructor({ objects }: Collected, { volumes, nodes }: Incident) {
    const provisioners = objects.map(({ object }) => object['provisioner']);
    const drivers = [...[...volumes.values()].map(({ driver }) => driver), ...provisioners].filter(
      (name) => typeof name === 'string',
    );
    for (const { csi, provisioners: more } of drivers.flatMap((name) => driversCalled(name)))
      for (const [word] of [...csi, ...more].join(' ').matchAll(token)) this.#kept.add(word);
    const named = objects.flatMap(({ object: { kind, metadata, involvedObject: about } }) => [
      ...(kind === 'Pod' ? [metadata.name, metadata.uid] : []),
      ...[about?.name, about?.uid],
    ]);
    this.#inner = [...new Set([...nodes, ...named])]
      .filter((name): name is string => name !== undefined && name !== '')
      .toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
    for (const node of nodes) this.#word(node, 'node');
    for (const { name, handle } of volumes.values()) {
      this.#word(name, 'pv');
      // The attachment’s name is computed from those of its volume and node.
      if (handle !== undefined)
        for (const node of nodes)
          this.#once(attachmentName(handle, node), () =>
            attachmentName(this.text(handle), this.text(node)),
          );
    }
  }

  text(text: string): string {
    return text.replace(token, (found, ...more) => {
      const { time, clock, four, six } = more.at(-1) as Partial<Record<string, string>>;
      if (time !== undefined || clock !== undefined) return found;
      if (four !== undefined)
        return this.#once(found, (n) => `198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`);
      if (six !== undefined) return this.#once(found, (n) => `2001:db8::${n.toString(16)}`);
      return this.#word(found);
    });
  }

  #once(found: string, make: (nth: number) => string): string {
    const made = this.#made.get(found) ?? make(this.#made.size);
    this.#made.set(found, made);
    return made;
  }

  #word(found: string, kind = 'name'): string {
    if (this.#kept.has(found) || /^(v?\d{1,5}|MY-\d{6})$/.test(found)) return found;
    const known = this.#made.get(found);
    if (known !== undefined) return known;
    const [, stem, ordinal] = ordinalOf.exec(found) ?? [];
    if (stem !== undefined) return `${this.#word(stem)}-${ordinal}`;
    const inner = this.#inner.find((each) => each !== found && `-${found}-`.includes(`-${each}-`));
    if (inner !== undefined) {
      const at = `-${found}-`.indexOf(`-${inner}-`);
      const [before, after] = [found.slice(0, at), found.slice(at + inner.length)];
      return this.text(before) + this.#word(inner) + this.text(after);
    }
    return this.#once(found, (nth) => {
      if (/^\d+$/.test(found)) return String(900_000 + nth);
      if (/^csi-[\da-f]{64}$/.test(found)) return attachmentName(String(nth), '');
      return `${found.includes('attacher') ? 'attacher' : kind}-${lettersOf(nth)}`;
    });
  }

  /** Of an object: with its fields that count. Of a line of a log: with all. */
  value(value: unknown, isLog: boolean, key = ''): unknown {
    if (typeof value === 'string')
      return enumerated.has(key) && /^[A-Z][A-Za-z]+$/.test(value) ? value : this.text(value);
    if (typeof value === 'number') return key === 'ts' ? value : Number(this.text(String(value)));
    if (Array.isArray(value)) return value.map((each) => this.value(each, isLog, key));
    if (typeof value !== 'object' || value === null) return value;
    const isMap = isLog || maps.has(key);
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => isMap || fields.has(name))
        .map(([name, each]) => [isMap ? this.text(name) : name, this.value(each, isLog, name)]),
    );
  }

  line(line: string): string {
    if (!line.startsWith('{')) return this.text(line);
    try {
      const isAudit = line.startsWith('{"kind":"Event"');
      return JSON.stringify(this.value(JSON.parse(line), !isAudit));
    } catch {
      return this.text(line);
    }
  }
}

/** A StatefulSet’s pod, a rotated file. */
const ordinalOf = /^(\d*\p{L}[\p{L}\p{N}]*(?:-\d*\p{L}[\p{L}\p{N}]*)*)-(\d{1,3})$/u;

/** No digits: the name of a rotated file ends in some. */
const lettersOf = (nth: number): string =>
  [26 ** 3, 26 ** 2, 26, 1]
    .map((unit) => String.fromCharCode(97 + (Math.floor(nth / unit) % 26)))
    .join('');

/** Makes the folder `out`, and nothing elsewhere. Throws UsageError `OUT_UNUSABLE`. */
export async function redactFolder(
  folder: string,
  out: string,
  collected: Collected,
  incident: Incident,
): Promise<void> {
  try {
    mkdirSync(out);
  } catch (cause) {
    throw new UsageError('OUT_UNUSABLE', `cannot make the folder ${out}`, {
      hint: 'give a path where nothing is yet, in a folder that you may write to',
      cause,
    });
  }
  const words = new Words(collected, incident);
  const { requests, component, server, boots, objects } = collected;
  const places = [...requests, ...component, ...server, ...boots].map(({ place }) => place);
  const linesOf = Map.groupBy(places, ({ file }) => file);
  const objectsOf = Map.groupBy(objects, ({ place }) => place.file);
  for (const { file, records } of collected.files) {
    if (records === 0) continue;
    const path = join(out, words.text(file));
    mkdirSync(dirname(path), { recursive: true });
    const dumped = objectsOf.get(file);
    const counted = new Set(linesOf.get(file)?.map(({ line }) => line));
    const content =
      dumped === undefined
        ? redacted(join(folder, file), counted, words)
        : [dumpOf(dumped.map(({ object }) => words.value(object, false)))];
    const packer = { gzip: createGzip, zstd: createZstdCompress, none: () => new PassThrough() };
    await pipeline(
      Readable.from(content),
      packer[packingOf(join(folder, file)) ?? 'none'](),
      createWriteStream(path, { flags: 'wx' }),
    );
  }
}

const dumpOf = (items: readonly unknown[]): string =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 4)}\n`;

/** Each line that counts; the others are empty, so that each is where it was. */
async function* redacted(
  path: string,
  counted: ReadonlySet<number>,
  words: Words,
): AsyncGenerator<string> {
  let line = 0;
  try {
    for await (const texts of linesIn(path))
      yield texts.map((text) => `${counted.has(++line) ? words.line(text) : ''}\n`).join('');
  } catch {
    // The inspection lists where it ends early.
  }
}
