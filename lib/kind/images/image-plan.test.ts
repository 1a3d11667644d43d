import { appendFileSync, cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { builtParts, type BuiltParts } from './built/parts.ts';
import { projectRoot } from '../../core/program.ts';
import { planImages } from './image-plan.ts';
import bundled from './driver.rolldown.mjs';
import { stageDriver } from './part.ts';

let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'forcedetach-plan-'));
  for (const path of [
    'lib/kind/images',
    ...['core', 'kind/self-fence', 'scenario', 'storage'].map((each) => `lib/${each}`),
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

test('each file that the driver is bundled of decides its key', async () => {
  const { files } = stageDriver(projectRoot);
  const bundles = await Promise.all(
    [bundled].flat().map(async ({ output, ...input }) => {
      await using bundle = await rolldown({ ...input, cwd: projectRoot });
      const made = await bundle.generate([output].flat()[0]);
      return made.output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
    }),
  );
  const modules = bundles.flat().filter((id) => !id.startsWith('\0'));
  expect(modules.length).toBeGreaterThan(50);
  expect(modules.filter((id) => !files.includes(id))).toEqual([]);
});

test('an edit of the driver rebuilds only the driver and the nodes that have it', () => {
  const before = builtParts(copy, '1.37.2');
  appendFileSync(join(copy, 'lib/storage/csi/main.ts'), '// edited\n');
  expect(changed(before, builtParts(copy, '1.37.2'))).toEqual(['driver', 'nodeWithDriver']);
});

test('another Kubernetes leaves MySQL, driver and tools alone', () => {
  const after = changed(builtParts(copy, '1.37.2'), builtParts(copy, '1.35.0'));
  expect(after).toContain('node');
  for (const name of ['mysql', 'driver', 'runtime', 'tools', 'base', 'attacher', 'pause']) {
    expect(after).not.toContain(name);
  }
});

test('the Dockerfiles take Node of the same major version as everything else', () => {
  for (const name of ['driver', 'tools']) {
    const file = `${projectRoot}/lib/kind/images/published/${name}.Dockerfile`;
    expect(readFileSync(file, 'utf8')).toContain('FROM node:24-');
  }
});

test.each(['built', 'published'] as const)(
  '%s: the provisioner is made, loaded and named where it is asked for only, the initiator not loaded',
  (source) => {
    const plain = planImages({ source, kubernetes: '1.37' });
    const asked = planImages({ source, kubernetes: '1.37', provisioner: true });
    const names = ({ stages }: typeof plain): string[] => stages.flat(2).map(({ name }) => name);
    expect(plain.images.provisioner).toBeUndefined();
    expect(names(asked).filter((name) => !names(plain).includes(name))).toEqual(['provisioner']);
    expect(asked.images.load).toEqual([...plain.images.load, asked.images.provisioner]);
    const beside = planImages({ source, kubernetes: '1.37', beside: ['initiator', 'ceph'] });
    expect(names(beside).filter((name) => !names(plain).includes(name))).toEqual([
      expect.stringMatching(/initiator$/),
      expect.stringMatching(/ceph$/),
    ]);
    expect(beside.images.load).toEqual(plain.images.load);
    expect(plain.images.ceph).toBeUndefined();
    expect(beside.images).toMatchObject({
      initiator: expect.stringContaining('initiator:'),
      ceph: expect.stringContaining('ceph:'),
    });
    // The nodes are the same: nothing of it is in their image.
    expect(asked.images.node).toBe(plain.images.node);
  },
);
