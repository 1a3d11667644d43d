/** The histories that git holds, samples and corpus: what they cover, and that each has a golden verdict. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { verdictWords } from '../../lib/scenario/scenario.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { kubernetesReleases, minorOf } from '../../lib/core/kubernetes.ts';
import { committedFiles, committedNames, unpackedRun } from '../support/committed.ts';

const samples = committedNames('reports/samples').map((name) => join('reports/samples', name));
const corpus = committedFiles('reports/corpus');

interface Line {
  readonly history?: string;
  readonly outcome?: { readonly verdict?: string };
}
const golden = gunzipSync(readFileSync('test/golden/verdicts.jsonl.gz'))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line)
  .filter(({ history }) => history !== undefined);

test('each has a golden verdict, and every verdict is there', () => {
  expect(new Set(golden.map(({ history }) => history))).toEqual(new Set([...samples, ...corpus]));
  expect(new Set(golden.map(({ outcome }) => outcome?.verdict))).toEqual(new Set(verdictWords));
});

test('every minor of Kubernetes and both versions of the history are there, and groups', () => {
  const runs = [...samples, ...corpus.map(unpackedRun)].map((folder) => {
    const records = [...openHistory(folder).smallRecords()];
    const run = records.find((record) => record.type === 'run');
    const setup = records.find((record) => record.type === 'setup');
    return { form: run?.schemaVersion, minor: minorOf(setup?.versions['kubernetes'] ?? '') };
  });
  const minors = new Set(runs.map(({ minor }) => minor));
  expect([...minors]).toEqual(expect.arrayContaining(Object.keys(kubernetesReleases)));
  expect(new Set(runs.map(({ form }) => form))).toEqual(new Set([3, 4]));
  expect(corpus.filter((file) => file.includes('/group-'))).not.toEqual([]);
});

test('they take 12 MB at most', () => {
  const files = ['reports/samples', 'reports/corpus'].flatMap((folder) => committedFiles(folder));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(bytes).toBeLessThanOrEqual(12e6);
});
