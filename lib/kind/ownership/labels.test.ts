import { expect, test } from 'vitest';
import {
  decodeLabels,
  encodeLabels,
  isContainerName,
  nodeNames,
  type ClusterLabels,
} from './registry.ts';

const labels: ClusterLabels = {
  cluster: 'main',
  runId: 'run-1',
  configHash: 'abc',
  index: 3,
  owner: { pid: 1, startTicks: '2', bootId: 'b', pidNamespace: 'pid:[1]', host: 'h' },
  keep: true,
  stateDir: '/tmp/state dir',
  token: 'abcd',
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

test('nor are those that we would never make, which may hold anything', () => {
  const read = asEngine(encodeLabels(labels));
  for (const [key, value] of [
    ['forcedetach.cluster', '../main'],
    ['forcedetach.cluster', '\u001b[2J'],
    ['forcedetach.run', '\u001b]0;title\u0007'],
    ['forcedetach.index', '32'],
    ['forcedetach.index', 'many'],
  ] as const) {
    expect(decodeLabels({ ...read, [key]: value })).toBeUndefined();
  }
});

test('a container of ours has one of the names that its cluster gives', () => {
  const nodes = ['fd-main-control-plane', 'fd-main-worker', 'fd-main-worker2'];
  expect(nodeNames('main', 3)).toEqual(nodes);
  expect(nodeNames('main', 0)).toEqual([]);
  for (const name of [...nodes, 'fd-main-worker12', 'fd-main-lab', 'fd-main-array']) {
    expect(isContainerName('main', name), name).toBe(true);
  }
  for (const name of [
    'fd-main',
    'fd-main-worker-x',
    'fd-mainworker',
    'main-worker',
    'fd-main-db',
  ]) {
    expect(isContainerName('main', name), name).toBe(false);
  }
});
