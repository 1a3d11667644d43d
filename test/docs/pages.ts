/** The pages that people read, and what tests ask of their text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const read = (page: string): string => readFileSync(join(root, page), 'utf8');

/** Folders under docs, by kind of page. */
export const kinds = ['tutorials', 'how-to', 'reference', 'explanation', 'results', 'internals'];
export const kindOf = (page: string): string => page.split('/')[1] ?? '';

export const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name))
  .toSorted();

export const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'reports/samples/README.md'],
  ...['museum/README.md', 'research/upstream/README.md'],
  ...docs,
];

/** The page with what stands between `<!-- name -->` and the next `<!-- end -->` made anew. Throws where a name has no place. */
export const filled = (text: string, parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts).reduce((page, [name, part]) => {
    const place = new RegExp(`(<!-- ${name} -->).*?(<!-- end -->)`, 's');
    if (!place.test(page)) throw new Error(`the page has no place for ${name}`);
    return page.replace(place, (_, before: string, after: string) => before + part + after);
  }, text);

/** Without fenced code. */
export const proseOf = (page: string): string => read(page).replaceAll(/^```.*?^```/gms, '');

export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');

/** The title first. */
export const headingsOf = (page: string): string[] =>
  [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);

/** Commands of `sh` blocks, a line each; what `&&` joins are two. */
export const commandsOf = (page: string): string[] =>
  [...read(page).matchAll(/^```sh\n(.*?)^```/gms)]
    .flatMap(([, block = '']) => block.split('\n'))
    .flatMap((line) => line.split(' && '))
    .filter((line) => line !== '');
