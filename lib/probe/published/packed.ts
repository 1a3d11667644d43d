/** Certificates that lie packed: whole ones are large, and git holds them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

export const packed = '.json.zst';

/** Names of those in a folder, in order. */
export const packedIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(packed))
    .toSorted();

export const unpacked = (path: string): string => zstdDecompressSync(readFileSync(path)).toString();

export const pack = (path: string, text: string): void =>
  writeFileSync(path, zstdCompressSync(text));
