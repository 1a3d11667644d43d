/** The tables of the documentation say what the code does. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { verdictWords } from '../../lib/experiment/scenario.ts';
import { settingsSchema } from '../../lib/experiment/written.ts';
import { verdictSchema } from '../../lib/experiment/verdict/verdict.ts';
import { certificateJsonSchema } from '../../lib/probe/published/read.ts';
import { terms } from '../../lib/report/terms.ts';
import { meanings } from '../../lib/report/wording.ts';
import { diskModesPage } from '../full/disk-modes-page.ts';
import { remediesPage } from '../full/remedies-page.ts';
import { workloadsPage } from '../full/workloads-page.ts';
import { path as errorsPath, renderedPage as renderedErrors } from './errors-page.ts';
import { path as flagsPath, renderedPage as renderedFlags } from './flags-page.ts';
import { read, root } from './pages.ts';
import {
  path as scenarioPath,
  renderedPage as renderedScenario,
  scheduleJsonSchema,
  schemaPath,
} from './scenario-page.ts';

/** Cells of a table's rows whose first cell is code. */
function tableRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(/(?<!\\) \| /));
}

const code = (cell: string | undefined): string => /`([^`]*)`/.exec(cell ?? '')?.[1] ?? '';

test('docs/reference/scenarios.md has every field, fault, disk, database and remedy', async () => {
  const page = read(scenarioPath);
  expect(page.match(/<!-- \/?\w+ -->/g)).toHaveLength(10);
  await expect(renderedScenario(page)).toMatchFileSnapshot(join(root, scenarioPath));
});

test('docs/reference/scenario.schema.json takes the schedules that are here, and no more than is read', async () => {
  const schema = scheduleJsonSchema();
  const text = `${JSON.stringify(schema, undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(root, schemaPath));
  const takes = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  const folder = join(root, 'experiments/schedules');
  const files = readdirSync(folder).map(
    (file) => parse(read(`experiments/schedules/${file}`)) as object,
  );
  expect(files.filter((file) => !takes.safeParse(file).success)).toEqual([]);
  const scenarios = [
    [{ fault: 'freeze', timers: { grace: '10s' }, kubernetes: '1.36' }, true],
    [{ fault: { link: 'stalls' }, disk: { flushes: 'ignored' }, remedy: { at: '5s' } }, true],
    [{ fault: { kind: 'node-crash', down: '5s' } }, false],
    [{ timers: { grace: 10 } }, false],
    [{ disk: { mode: 'fenced', cutAfter: '5s' } }, false],
    [{ falt: 'freeze' }, false],
  ] as const;
  for (const [scenario, isTaken] of scenarios) {
    const asFile = takes.safeParse({ ...files[0], scenario });
    const asRead = settingsSchema.safeParse(scenario);
    expect([scenario, asFile.success, asRead.success]).toEqual([scenario, isTaken, isTaken]);
  }
});

test.each([diskModesPage, remediesPage, workloadsPage])(
  'the table of $path has what the store of measurements says',
  (page) => {
    expect(read(page.path)).toBe(page.rendered());
  },
);

test.each(['README.md', 'docs/reference/verdicts.md'])(
  '%s says what each verdict means',
  (page) => {
    const rows = tableRows(read(page)).filter(([first]) =>
      (verdictWords as readonly string[]).includes(code(first)),
    );
    expect(Object.fromEntries(rows.map(([word, meaning]) => [code(word), meaning]))).toEqual(
      meanings,
    );
  },
);

test('the glossary has each word that a report explains', () => {
  const words = read('docs/reference/glossary.md')
    .split('\n')
    .flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1]?.split(/, | taint| †/) ?? []);
  expect(Object.keys(terms()).filter((term) => !words.includes(term))).toEqual([]);
});

test('docs/reference/verdict.schema.json is the schema of verdict.json', () => {
  const published: unknown = JSON.parse(read('docs/reference/verdict.schema.json'));
  expect(published).toEqual(JSON.parse(JSON.stringify(z.toJSONSchema(verdictSchema))));
});

test('docs/reference/certificate.schema.json is the form of certificates', async () => {
  const text = `${JSON.stringify(certificateJsonSchema(), undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(root, 'docs/reference/certificate.schema.json'));
});

test('docs/reference/errors.md has every error that the source throws', async () => {
  // `npx vitest run -u test/docs/docs.test.ts` writes it.
  await expect(renderedErrors()).toMatchFileSnapshot(join(root, errorsPath));
});

test('docs/reference/flags.md has every flag with its default', async () => {
  await expect(renderedFlags()).toMatchFileSnapshot(join(root, flagsPath));
});
