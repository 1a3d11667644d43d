/** What is installed and pulled is what was chosen: hashes, and for what has none a reason. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describePlan, planImages } from '../lib/kind/images/image-plan.ts';
import { kubernetesReleases } from '../lib/core/kubernetes.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** A lock file may name one as a word. */
const words = z.union([z.array(z.string()), z.string().transform((word) => [word])]).optional();

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.string().optional(),
      optional: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      os: words,
      cpu: words,
      libc: words,
    }),
  ),
});
const { packages } = lockSchema.parse(JSON.parse(read('package-lock.json')));
const installed = Object.entries(packages).filter(([path]) => path !== '');

test('every package has its hash, but for optional ones of platforms that nothing here runs on', () => {
  const bare = installed.filter(([, { integrity }]) => integrity === undefined);
  const runsHere = bare.filter(
    ([, { optional, os = ['linux'], cpu = ['x64'], libc = ['glibc'] }]) => {
      const isSupported =
        os.includes('linux') &&
        libc.includes('glibc') &&
        cpu.some((each) => each === 'x64' || each === 'arm64');
      return optional !== true || isSupported;
    },
  );
  // scripts/complete-lock.mjs says why these have none: the registry at hand does not offer them.
  expect(runsHere.map(([path]) => path)).toEqual([]);
  expect(read('scripts/complete-lock.mjs')).toContain('They get no integrity');
});

test('every hash is one that cannot be forged', () => {
  const weak = installed.filter(
    ([, { integrity }]) => !(integrity ?? 'sha512-').startsWith('sha512-'),
  );
  expect(weak).toEqual([]);
});

test('no package runs a script when it is installed', () => {
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  const scripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  // It writes a notice; nothing that is used needs it.
  expect(scripts.map(([path]) => path)).toEqual(['node_modules/protobufjs']);
});

/**
 * Those of official images that no registry was at hand to name the digest of. A report names each
 * image by the hash of what was in fact there.
 */
const byTag = [
  ...['golang:1.26', 'node:24-bookworm-slim', 'debian:sid-slim'],
  ...['mysql:9.7', 'registry.k8s.io/sig-storage/csi-attacher:v4.12.0'],
];

test('images are pulled by digest; those that are not are listed here', () => {
  for (const release of Object.values(kubernetesReleases)) {
    expect(release.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  }
  const froms = ['array', 'driver', 'tools'].flatMap((name) => {
    const text = read(`lib/kind/images/published/${name}.Dockerfile`);
    return [...text.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
  });
  const undigested = froms.filter((image) => image !== 'scratch' && !image.includes('@sha256:'));
  const pulled = describePlan(planImages({ source: 'published', kubernetes: '1.37' })).flatMap(
    (line) => /^docker pull (\S+)$/.exec(line)?.[1] ?? [],
  );
  undigested.push(...pulled.filter((image) => !image.includes('@sha256:')));
  expect([...new Set(undigested)].toSorted()).toEqual(byTag.toSorted());
});

test('what is built here is named by a hash of its content', () => {
  for (const { ref } of planImages({ source: 'built', kubernetes: '1.37' }).stages.flat(2)) {
    expect(ref).toMatch(/^forcedetach\/[a-z-]+:[0-9a-f]{12}$/);
  }
});
