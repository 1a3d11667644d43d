/** Certificates that lie packed: whole ones are large, and git holds them. */
import { readdirSync, writeFileSync } from 'node:fs';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { readInput, textFileBytes } from '../../input-file.ts';

export const packed = '.json.zst';

/** Names of those in a folder, in order. */
export const packedIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(packed))
    .toSorted();

/** Throws as `readInput` does, and where it is no such file or its text is longer than one may be. */
export const unpacked = (path: string): string =>
  zstdDecompressSync(readInput(path), { maxOutputLength: textFileBytes }).toString();

export const pack = (path: string, text: string): void =>
  writeFileSync(path, zstdCompressSync(text));
