/** Every page has its kind, is short, is listed, and its links lead somewhere. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { anchorOf, docs, headingsOf, kindOf, kinds, pages, proseOf, read, root } from './pages.ts';

const index = 'docs/README.md';
/** Where who works on it begins. */
const architecture = 'docs/architecture.md';
const sorted = docs.filter((page) => page !== index && kindOf(page) !== 'decisions');

test('every page is in the folder of its kind', () => {
  const others = sorted.filter((page) => !kinds.includes(kindOf(page)));
  expect(others).toEqual([architecture]);
  for (const kind of kinds) expect(sorted.some((page) => kindOf(page) === kind)).toBe(true);
});

test('the index lists each of them', () => {
  const text = read(index);
  expect(sorted.filter((page) => !text.includes(`(${page.replace('docs/', '')})`))).toEqual([]);
});

const wordsOf = (page: string): number => read(page).split(/\s+/).filter(Boolean).length;
const long = ['reference', 'internals'];

test('no page outside reference and internals has more than 1,500 words', () => {
  const short = ['README.md', ...docs.filter((page) => !long.includes(kindOf(page)))];
  expect(
    short.map((page) => [page, wordsOf(page)]).filter(([, words]) => Number(words) > 1500),
  ).toEqual([]);
});

function isDead(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return true;
  return (
    anchor !== undefined &&
    target.endsWith('.md') &&
    !headingsOf(target).map(anchorOf).includes(anchor)
  );
}

test.each(pages)('the links of %s lead somewhere', (page) => {
  const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const inside = links.filter((link) => !/^(https?|mailto):/.test(link));
  expect(inside.filter((link) => isDead(page, link))).toEqual([]);
});

const named =
  /\b(docs|experiments|reports|scripts|lib|test)\/[\w./-]+\.(md|mjs|ts|ya?ml|json|jsonl|png|svg)(?![.\w])/g;

// Drivers name files of other repositories.
const ownFiles = pages.filter((page) => page !== 'docs/reference/drivers.md');

test.each(ownFiles)('the files that %s names are there', (page) => {
  const files = [...proseOf(page).matchAll(named)].map(([file]) => file);
  const missing = files.filter((file) => !existsSync(join(root, file)));
  // A name in capitals stands for one's own; a run's own folder is not in git.
  expect(missing.filter((file) => !/^reports\/|\b[A-Z]+\b/.test(file))).toEqual([]);
});
