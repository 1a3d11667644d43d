/** The tables of the documentation say what the code does. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { UsageError } from '../../lib/core/errors.ts';
import { verdictWords } from '../../lib/scenario/scenario.ts';
import { verdictSchema } from '../../lib/judge/verdict/verdict.ts';
import { certificateJsonSchema } from '../../lib/probe/certificate.ts';
import { terms } from '../../lib/report/html-parts.ts';
import { matrixFile } from '../../lib/batch/matrix.ts';
import { scheduleFile } from '../../lib/sweep/findings.ts';
import { parseYaml, type FileKind } from '../../lib/core/data-file.ts';
import { meanings } from '../../lib/report/wording.ts';
import { diskModesPage } from '../full/disk-modes-page.ts';
import { remediesPage } from '../full/remedies-page.ts';
import { workloadsPage } from '../full/workloads-page.ts';
import { path as errorsPath, renderedPage as renderedErrors } from './errors-page.ts';
import { path as flagsPath, renderedPage as renderedFlags } from './flags-page.ts';
import { read, root } from './pages.ts';
import {
  matrixJsonSchema,
  matrixSchemaPath,
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

test('docs/reference/scenarios.md has every field, fault, disk, database, remedy and capability', async () => {
  const page = read(scenarioPath);
  expect(page.match(/<!-- \/?\w+ -->/g)).toHaveLength(16);
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
    [{ fault: { kind: 'flapping-partition', down: '5s' }, disk: { flushes: 'ignored' } }, true],
    [
      { fault: 'freeze', remedy: { kind: 'drain', at: '5s' }, kubernetes: { featureGates: {} } },
      true,
    ],
    [{ fault: 'freeze', timers: { forceDetachAfter: '30s' }, also: { kind: 'api-outage' } }, true],
    [{ fault: 'freeze', timers: { forceDetach: 'off', grace: '30s' } }, true],
    [{ fault: 'freeze', timers: { forceDetach: 'off', forceDetachAfter: '30s' } }, false],
    [{ fault: 'freeze', timers: 'off' }, false],
    [{ fault: 'freeze', remedy: { at: '5s' } }, false],
    [{ fault: 'freeze', remedy: { kind: 'none', at: '5s' } }, false],
    [{ fault: 'freeze', also: { for: '30s' } }, false],
    [{ fault: 'freeze', selfFence: { after: '20s' } }, false],
    [{ fault: 'freeze', disk: { cutAfter: '10s' } }, false],
    [{ fault: 'freeze', disk: { mode: 'fenced', cutAfter: '10s' } }, false],
    [{ fault: 'freeze', disk: { cutAfter: '10s', fileLocks: 'shared' } }, false],
    [{ fault: 'freeze', 'disk.mode': 'fenced' }, false],
    [{ fault: { link: 'stalls' } }, false],
    [{ fault: { kind: 'node-crash', down: '5s' } }, false],
    [{ 'fault.kind': 'node-crash' }, false],
    [{ fault: 'freeze', timers: { grace: 10 } }, false],
    [{ falt: 'freeze' }, false],
    [{ disk: 'fenced' }, false],
  ] as const;
  for (const [scenario, isTaken] of scenarios) {
    const file = { ...files[0], scenario };
    const asFile = takes.safeParse(file).success;
    expect([scenario, asFile, isRead(file)]).toEqual([scenario, isTaken, isTaken]);
  }
});

test('docs/reference/matrix.schema.json takes the matrices that are here, and no more than is read', async () => {
  const schema = matrixJsonSchema();
  const text = `${JSON.stringify(schema, undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(root, matrixSchemaPath));
  const takes = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  const folder = 'experiments/matrices';
  for (const file of readdirSync(join(root, folder))) {
    expect([file, takes.safeParse(parse(read(`${folder}/${file}`))).success]).toEqual([file, true]);
  }
  const least = { name: 'a', question: 'Is it safe?', axes: { disk: ['fenced'] } };
  const matrices = [
    [{}, true],
    [{ axes: { 'fault.kind': ['freeze'], case: { one: { disk: 'fenced' } } } }, true],
    [{ axes: { disk: { mode: ['fenced'] } } }, false],
    [{ axes: { disk: ['fence'] } }, false],
    [{ axes: { case: { one: { dis: 'fenced' } } } }, false],
    [{ base: { timers: { grace: 10 } } }, false],
    [{ repeats: 0 }, false],
    [{ repeat: 2 }, false],
    [{ include: [{ fault: 'freeze' }], rerunAlone: 0.5 }, true],
  ] as const;
  for (const [more, isTaken] of matrices) {
    const file = { ...least, ...more };
    const asFile = takes.safeParse(file).success;
    expect([more, asFile, isRead(file, matrixFile)]).toEqual([more, isTaken, isTaken]);
  }
});

function isRead(file: object, kind: FileKind<unknown> = scheduleFile): boolean {
  try {
    parseYaml(stringify(file), 'file.yaml', kind);
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

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
  expect(Object.keys(terms).filter((term) => !words.includes(term))).toEqual([]);
});

test('docs/reference/verdict.schema.json is the schema of verdict.json', () => {
  const published: unknown = JSON.parse(read('docs/reference/verdict.schema.json'));
  expect(published).toEqual(JSON.parse(JSON.stringify(z.toJSONSchema(verdictSchema))));
});

test('certificates/certificate.schema.json is the form of certificates', async () => {
  const text = `${JSON.stringify(certificateJsonSchema(), undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(root, 'certificates/certificate.schema.json'));
});

test('docs/reference/errors.md has every error that the source throws', async () => {
  // `npx vitest run -u test/docs/docs.test.ts` writes it.
  await expect(renderedErrors()).toMatchFileSnapshot(join(root, errorsPath));
});

test('docs/reference/flags.md has every flag with its default', async () => {
  await expect(renderedFlags()).toMatchFileSnapshot(join(root, flagsPath));
});
