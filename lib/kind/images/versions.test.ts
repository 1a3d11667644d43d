/** The versions are said in TypeScript, Go modules and package.json: they must agree. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { kubernetesDefault, releaseOf } from '../../core/kubernetes.ts';
import { projectRoot } from '../../core/program.ts';
import { attacherVersion, nodeVersion, provisionerVersion } from './part.ts';

/** Go's oldest release that the committed modules accept. */
const oldestGo = '1.26';

const read = (path: string): string => readFileSync(`${projectRoot}/${path}`, 'utf8');

const built = releaseOf(kubernetesDefault, 'built');

test('Kubernetes and its staging modules are pinned at the default version', () => {
  const module = read('lib/kind/images/built/kubernetes/go.mod');
  expect(module).toContain(`k8s.io/kubernetes v${built}\n`);
  const staging = [...module.matchAll(/=> k8s\.io\/\S+ (v\S+)/g)].map(([, version]) => version);
  expect(staging.length).toBeGreaterThan(25);
  expect(new Set(staging)).toEqual(new Set([`v0.${built.replace('1.', '')}`]));
});

test('the provisioner is pinned at its version', () => {
  const module = read('lib/kind/images/built/provisioner/go.mod');
  expect(module).toMatch(new RegExp(`external-provisioner/v6 v${provisionerVersion}\\s`));
});

test('the attacher is pinned at its version and Go at the oldest that accepts it', () => {
  const module = read('lib/kind/images/built/attacher/go.mod');
  expect(module).toMatch(new RegExp(`external-attacher/v4 v${attacherVersion}\\s`));
  expect(module).toContain(`\ngo ${oldestGo}`);
});

test('the array is built by the same Go on both image ways', () => {
  expect(read('lib/storage/csi/array/go.mod')).toContain(`\ngo ${oldestGo}\n`);
  expect(read('lib/kind/images/published/array.Dockerfile')).toContain(`FROM golang:${oldestGo} `);
});

test('the images carry the Node that npm installs', () => {
  const manifest = JSON.parse(read('package.json')) as {
    optionalDependencies: Record<string, string>;
  };
  expect(Object.values(manifest.optionalDependencies)).toEqual([nodeVersion, nodeVersion]);
});
