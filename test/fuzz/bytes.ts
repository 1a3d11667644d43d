/** Damage to a file as disks, kills and people do it: cut, zeroed, changed, or something else in its place. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import type { RandomStream } from '../../lib/core/random.ts';

interface Damage {
  readonly name: string;
  /** Of a folder as well: something else is there. */
  readonly replaces?: boolean;
  /** A reader of this one file must refuse it. */
  readonly isCertain: boolean;
  readonly apply: (path: string, draws: RandomStream) => void;
}

const replace = (path: string): void => rmSync(path, { recursive: true, force: true });

const altered =
  (alter: (bytes: Buffer, draws: RandomStream) => Buffer) =>
  (path: string, draws: RandomStream): void =>
    writeFileSync(path, alter(readFileSync(path), draws));

const placeIn = (bytes: Buffer, draws: RandomStream): number =>
  draws.int(0, Math.max(0, bytes.length - 1));

/** The first are certain to be noticed by whoever reads a single file. */
const damages: readonly Damage[] = [
  {
    name: 'a folder',
    isCertain: true,
    apply: (path) => {
      replace(path);
      mkdirSync(path);
    },
  },
  {
    name: 'a pipe',
    replaces: true,
    isCertain: true,
    apply: (path) => {
      replace(path);
      execFileSync('mkfifo', [path]);
    },
  },
  {
    name: 'a link to a device',
    replaces: true,
    isCertain: true,
    apply: (path) => {
      replace(path);
      symlinkSync('/dev/zero', path);
    },
  },
  {
    name: 'a terabyte of nothing',
    isCertain: true,
    apply: (path) => truncateSync(path, 2 ** 40),
  },
  { name: 'missing', replaces: true, isCertain: false, apply: replace },
  {
    name: 'a link that leads nowhere',
    replaces: true,
    isCertain: false,
    apply: (path) => {
      replace(path);
      symlinkSync('/nowhere/at/all', path);
    },
  },
  { name: 'empty', isCertain: false, apply: altered(() => Buffer.alloc(0)) },
  {
    name: 'cut',
    isCertain: false,
    apply: altered((bytes, draws) => bytes.subarray(0, placeIn(bytes, draws))),
  },
  {
    name: 'its beginning cut off',
    isCertain: false,
    apply: altered((bytes, draws) => bytes.subarray(placeIn(bytes, draws))),
  },
  {
    name: 'a byte changed',
    isCertain: false,
    apply: altered((bytes, draws) => {
      bytes[placeIn(bytes, draws)] = draws.int(0, 255);
      return bytes;
    }),
  },
  {
    name: 'a stretch of zeros',
    isCertain: false,
    apply: altered((bytes, draws) => bytes.fill(0, placeIn(bytes, draws))),
  },
  {
    name: 'zeros behind it',
    isCertain: false,
    apply: altered((bytes, draws) => Buffer.concat([bytes, Buffer.alloc(draws.int(1, 9000))])),
  },
  {
    name: 'twice',
    isCertain: false,
    apply: altered((bytes) => Buffer.concat([bytes, bytes])),
  },
  {
    name: 'a half of it twice',
    isCertain: false,
    apply: altered((bytes, draws) => {
      const at = placeIn(bytes, draws);
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.floor(at / 2))]);
    }),
  },
  {
    name: 'brackets without end',
    isCertain: false,
    apply: altered(() => Buffer.from('['.repeat(60_000))),
  },
  {
    name: 'aliases of aliases',
    isCertain: false,
    apply: altered(() => Buffer.from(aliases)),
  },
  {
    name: 'letters of no alphabet',
    isCertain: false,
    apply: altered((_, draws) => Buffer.from(Array.from({ length: 300 }, () => draws.int(0, 255)))),
  },
];

/** Ten to the ninth words, were they unfolded. */
const aliases = Array.from({ length: 10 }, (_, n) =>
  n === 0
    ? 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]'
    : `a${n}: &a${n} [${`*a${n - 1},`.repeat(9)}*a${n - 1}]`,
).join('\n');

export const damageNames: readonly string[] = damages.map(({ name }) => name);

/** What can be done to a folder. */
export const replacements: readonly string[] = damages
  .filter(({ replaces }) => replaces === true)
  .map(({ name }) => name);

/** Whether a reader of this file alone must refuse it. */
export function damage(path: string, name: string, draws: RandomStream): boolean {
  const found = damages.find((each) => each.name === name);
  if (found === undefined) throw new RangeError(name);
  found.apply(path, draws);
  return found.isCertain;
}
