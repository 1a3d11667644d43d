/** The published way: official images pulled, ours built from Dockerfiles on top of official ones. */
import * as recipe from '../engine/recipe.ts';
import { pullPinned } from '../engine/recipe.ts';
import { kubernetesReleases, minorOf, releaseOf } from '../../core/index.ts';
import { arrayFiles, arrayModule, builtParts } from './built/parts.ts';
import { stageDriver } from './node-closure.ts';
import { definePart, type ImagePart, type ImageStep } from './part.ts';
import { attacherVersion, mysqlSeries, provisionerVersion } from './versions.ts';

const folder = 'lib/kind/images/published';

/** kind's own node image of a minor, by digest. Throws UsageError as `releaseOf` does. */
export function publishedNode(kubernetes: string): string {
  const version = releaseOf(kubernetes, 'published');
  return `kindest/node:v${version}@${kubernetesReleases[minorOf(version)]?.digest ?? ''}`;
}

export function publishedSteps(root: string, kubernetes: string): PulledSteps {
  const staged = stageDriver(root);
  const driverFile = `${folder}/driver.Dockerfile`;
  const arrayFile = `${folder}/array.Dockerfile`;
  const toolsFile = `${folder}/tools.Dockerfile`;
  const driver = { files: [...staged.files, `${root}/${driverFile}`], settings: staged.settings };
  const array = { files: [...arrayFiles(root), `${root}/${arrayFile}`], settings: [] };
  const tools = { files: [`${root}/${toolsFile}`], settings: [] };
  const series = `--build-arg MYSQL_SERIES=${mysqlSeries}`;
  return {
    node: pull('node', publishedNode(kubernetes)),
    mysql: pull('mysql', `mysql:${mysqlSeries}`),
    attacher: pull('attacher', `registry.k8s.io/sig-storage/csi-attacher:v${attacherVersion}`),
    provisioner: pull(
      'provisioner',
      `registry.k8s.io/sig-storage/csi-provisioner:v${provisionerVersion}`,
    ),
    driver: definePart('published-driver', driver, (key, ref) => [
      ...staged.commands,
      recipe.build(partLabels('driver', key), driverFile, ref, '"$WORK"'),
    ]),
    array: definePart('published-array', array, (key, ref) => [
      recipe.build(partLabels('array', key), arrayFile, ref, arrayModule),
    ]),
    tools: definePart('published-tools', tools, (key, ref) => [
      recipe.build(`${series} ${partLabels('tools', key)}`, toolsFile, ref, '"$WORK"'),
    ]),
  };
}

const pull = (name: string, ref: string): ImageStep => ({
  name,
  ref,
  commands: [recipe.pull(ref)],
});

/** Flags of an image that is built from a Dockerfile. */
export const partLabels = (part: string, key: string): string =>
  `--label forcedetach.part=${part} --label forcedetach.key=${key}`;

/** What a cluster is made of; the other parts are only built upon. */
export const mirroredNames = [
  ...(['node', 'mysql', 'attacher', 'provisioner', 'driver', 'array', 'tools'] as const),
];

/** `provisioner`: only where volumes are to be provisioned. */
export type PulledSteps = Readonly<Record<(typeof mirroredNames)[number], ImageStep>>;

/** The image of a part there: its tag is the key of what it was made of. */
export const mirroredRef = (registry: string, { ref }: ImagePart): string => `${registry}/${ref}`;

/** Throws UsageError as `releaseOf` does. */
export function mirroredSteps(root: string, kubernetes: string, registry: string): PulledSteps {
  const parts = builtParts(root, releaseOf(kubernetes, 'built'));
  const steps = mirroredNames.map((name) => [name, pullMirrored(parts[name], registry)] as const);
  return Object.fromEntries(steps) as PulledSteps;
}

/**
 * The registry is asked once which bytes the tag means; those are pulled, by digest, and must say
 * that they were made of this checkout's sources.
 */
function pullMirrored(part: ImagePart, registry: string): ImageStep {
  const ref = mirroredRef(registry, part);
  // As the engine pulls: without TLS from this machine only.
  const insecure = /^(127\.|localhost\b)/.test(registry);
  const commands = pullPinned(ref, { insecure, label: 'forcedetach.key', value: part.key });
  return { name: part.name, ref, commands };
}
