import { copyFileSync, mkdtempDisposableSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, open, rename, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, afterEach, expect, test } from 'vitest';
import type { CopyIdentity } from '../../history/evidence.ts';
import { identifyCopy, labelCopy } from './copy-label.ts';

const imageBytes = 64 * 1024 ** 2;
const about = { volume: 'fd-run', generation: 2 };

let scratch: ReturnType<typeof mkdtempDisposableSync>;
beforeEach(() => {
  scratch = mkdtempDisposableSync(join(tmpdir(), 'fd-copy-label-'));
});
afterEach(() => scratch.remove());
const at = (name: string): string => join(scratch.path, name);

/** A sparse image with some bytes at its beginning. */
function image(name: string, text: string): string {
  writeFileSync(at(name), text);
  truncateSync(at(name), imageBytes);
  return at(name);
}

async function overwrite(path: string, text: string, where: number): Promise<void> {
  await using file = await open(path, 'r+');
  await file.write(text, where);
}

test('who opens a copy finds what its maker told of it', async () => {
  const path = image('first.img', 'a volume');
  const made = await labelCopy(path, about);
  expect(made).toMatchObject({ ...about, bytes: imageBytes });
  copyFileSync(path, at('opened'));
  expect(await identifyCopy(path, at('opened'))).toEqual(made);
});

test('a copy that nobody labelled has no identity', async () => {
  expect(await identifyCopy(image('first.img', 'x'), at('first.img'))).toBeUndefined();
});

/** What differs between the label's maker and the opener after `alter`. */
async function differs(alter: (path: string) => Promise<void>): Promise<string[]> {
  const path = image('first.img', 'a volume');
  const made = await labelCopy(path, about);
  await alter(path);
  copyFileSync(path, at('opened'));
  const opened = await identifyCopy(path, at('opened'));
  const keys = Object.keys(made) as (keyof CopyIdentity)[];
  return keys.filter((key) => opened?.[key] !== made[key]);
}

test('nothing differs where nothing was done', async () => {
  expect(await differs(() => Promise.resolve())).toEqual([]);
});

test('one changed byte that no drawn block has is told by the stamp, its old times set or not', async () => {
  const changed = async (path: string): Promise<void> => {
    await overwrite(path, 'b', imageBytes / 2 + 4096 * 7 + 13);
    await utimes(path, 1, 1);
  };
  expect(await differs(changed)).toContain('stamp');
});

test('a changed superblock is told by the digest', async () => {
  expect(await differs((path) => overwrite(path, 'b', 1080))).toContain('digest');
});

test('a change of one block in a hundred is told by the digest', async () => {
  const change = async (path: string): Promise<void> => {
    for (let block = 256; block < imageBytes / 4096; block += 100) {
      await overwrite(path, 'b', block * 4096);
    }
  };
  expect(await differs(change)).toContain('digest');
});

test('another copy in its place is told, whoever labelled it', async () => {
  const swap = async (path: string): Promise<void> => {
    await labelCopy(image('second.img', 'a volume'), about);
    await rename(at('second.img'), path);
    await rename(at('second.img.label.json'), `${path}.label.json`);
  };
  expect(await differs(swap)).toEqual(expect.arrayContaining(['copy', 'stamp']));
});

test('a shared directory is told by what lies in it', async () => {
  const folder = at('first.files');
  await mkdir(folder);
  writeFileSync(join(folder, 'a'), 'content');
  const made = await labelCopy(folder, { volume: 'fd-run', generation: 0 });
  expect(await identifyCopy(folder, folder)).toEqual(made);
  writeFileSync(join(folder, 'b'), 'more');
  expect((await identifyCopy(folder, folder))?.digest).not.toBe(made.digest);
});
