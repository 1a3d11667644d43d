import { appendFileSync, cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { builtParts, type BuiltParts } from './built/parts.ts';
import { projectRoot } from '../checkout.ts';
import { describePlan, planImages } from './image-plan.ts';

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'forcedetach-plan-'));
  for (const path of [
    'lib/images',
    'lib/csi',
    'lib/disk-modes',
    'lib/fields',
    'lib/self-fence',
    'lib/errors.ts',
    'lib/plain-text.ts',
    'lib/disk-kinds.ts',
    'lib/durations.ts',
    'lib/taints.ts',
    'lib/kubernetes-get.ts',
    'lib/kubernetes-versions.ts',
  ]) {
    cpSync(join(projectRoot, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(projectRoot, 'node_modules'), join(copy, 'node_modules'));
});

const refs = (parts: BuiltParts): Record<string, string> =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.ref]));

/** Names of the parts whose key differs. */
function changed(before: BuiltParts, after: BuiltParts): string[] {
  const old = refs(before);
  return Object.entries(refs(after))
    .filter(([name, ref]) => old[name] !== ref)
    .map(([name]) => name);
}

test('keys do not depend on where the project lies', () => {
  expect(refs(builtParts(copy, '1.37.2'))).toEqual(refs(builtParts(projectRoot, '1.37.2')));
});

test('an edit of the driver rebuilds only the driver and the nodes that have it', () => {
  const before = builtParts(copy, '1.37.2');
  appendFileSync(join(copy, 'lib/csi/main.ts'), '// edited\n');
  expect(changed(before, builtParts(copy, '1.37.2'))).toEqual(['driver', 'nodeWithDriver']);
});

test('a test of the driver is not in its image', () => {
  const before = builtParts(copy, '1.37.2');
  appendFileSync(join(copy, 'lib/csi/new.test.ts'), '// a test\n');
  expect(changed(before, builtParts(copy, '1.37.2'))).toEqual([]);
});

test('an edit of the array rebuilds only the array', () => {
  const before = builtParts(copy, '1.37.2');
  appendFileSync(join(copy, 'lib/csi/array/main.go'), '// edited\n');
  expect(changed(before, builtParts(copy, '1.37.2'))).toEqual(['array']);
});

test('a test of the array is not in its image', () => {
  const before = builtParts(copy, '1.37.2');
  appendFileSync(join(copy, 'lib/csi/array/new_test.go'), '// a test\n');
  expect(changed(before, builtParts(copy, '1.37.2'))).toEqual([]);
});

test('an edit of the node entrypoint rebuilds base and node', () => {
  const before = builtParts(copy, '1.37.2');
  appendFileSync(join(copy, 'lib/images/built/node/entrypoint'), '# edited\n');
  expect(changed(before, builtParts(copy, '1.37.2'))).toEqual(['base', 'node', 'nodeWithDriver']);
});

test('an edit of the controller manager rebuilds Kubernetes and node', () => {
  const before = builtParts(copy, '1.37.2');
  appendFileSync(join(copy, 'lib/images/built/kubernetes/force_detach.go'), '// edited\n');
  expect(changed(before, builtParts(copy, '1.37.2'))).toEqual([
    'kubernetes',
    'node',
    'nodeWithDriver',
  ]);
});

test('another Kubernetes leaves MySQL, driver and tools alone', () => {
  const after = changed(builtParts(copy, '1.37.2'), builtParts(copy, '1.35.0'));
  expect(after).toContain('node');
  for (const name of ['mysql', 'driver', 'runtime', 'tools', 'base', 'attacher', 'pause']) {
    expect(after).not.toContain(name);
  }
});

test('built: every part comes after its needs, and the driver is in new nodes from the beginning', () => {
  const plan = planImages({ source: 'built', kubernetes: '1.37' });
  const steps = plan.stages.flat(2);
  const madeBy = new Map(plan.stages.flatMap((lanes, at) => lanes.flat().map((s) => [s.ref, at])));
  const node = steps.find((step) => step.name === 'node');
  for (const [ref, stage] of madeBy) {
    if (node?.commands.join(' ').includes(ref) && ref !== node.ref) expect(stage).toBe(0);
  }
  expect(steps.map((step) => step.name).toSorted()).toEqual(
    'array attacher base driver kubernetes mysql node node-with-driver pause runtime tools'.split(
      ' ',
    ),
  );
  expect(plan.images.load).toEqual([plan.images.driver]);
  expect(plan.images.creation.has).toEqual([plan.images.driver]);
  expect(plan.images.tunableForceDetach).toBe(true);
});

test('published: pulls the official images and builds ours on top of official ones', () => {
  const plan = planImages({ source: 'published', kubernetes: '1.37' });
  const commands = describePlan(plan);
  expect(commands).toContainEqual(
    expect.stringMatching(/^docker pull kindest\/node:v1\.37\.0@sha256:[0-9a-f]{64}$/),
  );
  expect(commands).toContain('docker pull mysql:9.7');
  expect(commands).toContain('docker pull registry.k8s.io/sig-storage/csi-attacher:v4.12.0');
  expect(commands.filter((line) => line.startsWith('docker build '))).toEqual([
    expect.stringMatching(
      /driver\.Dockerfile --tag forcedetach\/published-driver:\w{12} "\$WORK"$/,
    ),
    expect.stringMatching(
      /array\.Dockerfile --tag forcedetach\/published-array:\w{12} lib\/csi\/array$/,
    ),
    expect.stringMatching(/tools\.Dockerfile --tag forcedetach\/published-tools:\w{12} "\$WORK"$/),
  ]);
  expect(commands.join('\n')).not.toMatch(/mmdebstrap|go build/);
  const { database, attacher, driver } = plan.images;
  expect(plan.images.load).toEqual([database, attacher, driver]);
  expect(plan.images.tunableForceDetach).toBe(false);
});

test('the Dockerfiles take Node of the same major version as everything else', () => {
  for (const name of ['driver', 'tools']) {
    const file = `${projectRoot}/lib/images/published/${name}.Dockerfile`;
    expect(readFileSync(file, 'utf8')).toContain('FROM node:24-');
  }
});

test.each(['built', 'published'] as const)(
  '%s: the provisioner is made, loaded and named where it is asked for only',
  (source) => {
    const plain = planImages({ source, kubernetes: '1.37' });
    const asked = planImages({ source, kubernetes: '1.37', provisioner: true });
    const names = ({ stages }: typeof plain): string[] => stages.flat(2).map(({ name }) => name);
    expect(plain.images.provisioner).toBeUndefined();
    expect(names(asked).filter((name) => !names(plain).includes(name))).toEqual(['provisioner']);
    expect(asked.images.load).toEqual([...plain.images.load, asked.images.provisioner]);
    // The nodes are the same: nothing of it is in their image.
    expect(asked.images.node).toBe(plain.images.node);
  },
);
