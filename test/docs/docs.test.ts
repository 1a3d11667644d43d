/** The documentation says what the code does: tables, links, and every example is run. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { verdictWords, scenarioSchema } from '../../lib/experiment/scenario.ts';
import { verdictJsonSchema } from '../../lib/experiment/verdict.ts';
import { meanings } from '../../lib/report/wording.ts';
import { diskModesPage } from '../full/disk-modes-page.ts';
import { remediesPage } from '../full/remedies-page.ts';
import { workloadsPage } from '../full/workloads-page.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');

interface Answer {
  readonly code: number;
  readonly output: string;
}

/** Runs a line of the docs as it stands, with words added. */
function run(line: string, ...added: string[]): Promise<Answer> {
  const [, , script, ...words] = line.split(/\s+/);
  const zx = join(root, 'node_modules/zx/build/cli.js');
  const args = [zx, script ?? '', ...words, ...added];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

/** Cells of a table's rows whose first cell is code. */
function tableRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /));
}

const code = (cell: string | undefined): string => /`([^`]*)`/.exec(cell ?? '')?.[1] ?? '';

test('docs/scenarios.md has every field with its default', () => {
  const documented = tableRows(read('docs/scenarios.md')).map((cells) => [
    code(cells[0]),
    code(cells[1]),
  ]);
  const fields = Object.entries(scenarioSchema.shape).map(([name, schema]) => {
    const parsed = schema.safeParse(undefined);
    return [name, parsed.success && parsed.data !== undefined ? JSON.stringify(parsed.data) : ''];
  });
  expect(documented).toEqual(fields);
});

test.each([diskModesPage, remediesPage, workloadsPage])(
  'the table of $path has what its JSON file says',
  (page) => {
    expect(read(page.path)).toBe(page.rendered());
  },
);

test.each(['README.md', 'docs/verdicts.md'])('%s says what each verdict means', (page) => {
  const rows = tableRows(read(page)).filter(([first]) =>
    (verdictWords as readonly string[]).includes(code(first)),
  );
  expect(Object.fromEntries(rows.map(([word, meaning]) => [code(word), meaning]))).toEqual(
    meanings,
  );
});

test('docs/verdict.schema.json is the schema of verdict.json', () => {
  const published: unknown = JSON.parse(read('docs/verdict.schema.json'));
  expect(published).toEqual(JSON.parse(JSON.stringify(verdictJsonSchema())));
});

test('the page of flags names every flag and no other', async () => {
  const { output } = await run('npx zx experiments/node-crash.mjs', '--help');
  const flags = (text: string): string[] =>
    [...text.matchAll(/^(?:\| `| {2})(--[a-z-]+)/gm)].map((match) => match[1] ?? '');
  expect(flags(read('docs/flags.md')).toSorted()).toEqual(flags(output).toSorted());
});

const examples = pages.flatMap((page) =>
  [...read(page).matchAll(/^```sh\n(.*?)^```/gms)]
    .flatMap(([, block]) => (block ?? '').split('\n'))
    .flatMap((line) => line.split(' && '))
    .filter((line) => line.startsWith('npx zx '))
    .map((line) => ({ page, line })),
);

test('there are examples', () => {
  expect(examples.length).toBeGreaterThan(5);
});

test.concurrent.each(examples)('$page: $line', { timeout: 60_000 }, async ({ line }) => {
  // Tools that are no experiments know no dry run.
  const isTool = /experiments\/(doctor|clean|report|crash-states|merge-batches|sweep)\.mjs/.test(
    line,
  );
  const { code, output } = await run(line, isTool ? '--help' : '--dry-run');
  // Where no engine answers, an example for kind must fail for this reason alone.
  const noEngine = line.includes('--cluster kind') && output.includes('ENGINE_MISSING');
  expect({ code, output }).toMatchObject({ code: noEngine ? 4 : 0 });
});

test.each(pages)('the links of %s lead somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map((match) => match[1] ?? '');
  const inside = links.filter((link) => !/^https?:/.test(link));
  const dead = inside.filter((link) => !existsSync(join(root, dirname(page), link)));
  expect(dead).toEqual([]);
});
