import { expect, test } from 'vitest';
import { decodeLabels, encodeLabels, type ClusterLabels } from './labels.ts';

const labels: ClusterLabels = {
  cluster: 'main',
  runId: 'run-1',
  configHash: 'abc',
  index: 3,
  owner: { pid: 1, startTicks: '2', bootId: 'b', pidNamespace: 'pid:[1]' },
  keep: true,
  stateDir: '/tmp/state dir',
  tools: 'forcedetach/tools:1',
};

/** What the engine answers for the flags it was given. */
function asEngine(flags: string[]): Record<string, string> {
  const pairs = flags.filter((flag) => flag !== '--label').map((flag) => flag.split(/=(.*)/s));
  return Object.fromEntries(pairs.map(([key, value]) => [key ?? '', value ?? '']));
}

test('what is put on a network is read back', () => {
  expect(decodeLabels(asEngine(encodeLabels(labels)))).toEqual(labels);
});

test('an owner that cannot be read stays unknown, and kept is said only by the word true', () => {
  const read = decodeLabels({ ...asEngine(encodeLabels(labels)), 'forcedetach.owner': '?' });
  expect(read?.owner).toBeUndefined();
  expect(decodeLabels(asEngine(encodeLabels({ ...labels, keep: false })))?.keep).toBe(false);
});

test('labels of others are not ours', () => {
  expect(decodeLabels({})).toBeUndefined();
  expect(decodeLabels(null)).toBeUndefined();
  expect(decodeLabels({ 'com.docker.compose.project': 'shop' })).toBeUndefined();
});
