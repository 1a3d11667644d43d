/** Which images a cluster has, and what is done to have them: pure, so that it can be shown and tested without an engine. */
import {
  kubernetesReleases,
  minorOf,
  projectRoot,
  releaseOf,
  UsageError,
  type ImageSource,
  madeBy,
  type ImageOrigin,
} from '../../core/index.ts';
import type { ServerImage } from '../../scenario/index.ts';
import { askManifest } from '../engine/commands.ts';
import * as recipe from '../engine/recipe.ts';
import { $ } from '../engine/shell.ts';
import { arrayFiles, arrayModule, builtParts } from './built/parts.ts';
import {
  attacherVersion,
  definePart,
  type ImagePart,
  type ImageStep,
  mysqlSeries,
  type PartInputs,
  provisionerVersion,
  stageDriver,
} from './part.ts';

/** Where they come from in the end. */
export interface SourceChoice extends ImageOrigin {
  readonly reason: string;
}

export interface ImageSet {
  readonly source: ImageSource;
  /** Without the leading `v`, e.g. `1.37.2`. */
  readonly kubernetesVersion: string;
  /** What all clusters of this version have. */
  readonly node: string;
  /**
   * Reference for `kind create cluster --image`: the node, and what of `load` is in it already. A
   * cluster that was made with another one is as good.
   */
  readonly creation: { readonly node: string; readonly has: readonly string[] };
  /** References that every node must have; the others are in it from the beginning. */
  readonly load: readonly string[];
  /** References as the pods name them. */
  readonly database: string;
  readonly attacher: string;
  /** Only where volumes are to be provisioned. */
  readonly provisioner?: string;
  /** Run beside the cluster on the engine, only where disks are reached over a network. */
  readonly initiator?: string;
  readonly ceph?: string;
  readonly driver: string;
  /** Runs beside the cluster on the engine: the program of lib/storage/csi/array and nothing else. */
  readonly array: string;
  /** Runs beside the cluster on the engine: Node, the server, its tools, e2fsprogs, losetup, socat, perl. */
  readonly tools: string;
  /** Image id by name (`node`, `driver`, …): recorded in each report. */
  readonly ids: Readonly<Record<string, string>>;
  /** Whether the controller manager takes its force-detach wait from FORCEDETACH_MAX_WAIT_FOR_UNMOUNT. */
  readonly tunableForceDetach: boolean;
}

/** What a cluster is made of, of each source; the other parts are only built upon. */
export const mirroredNames = [
  ...([
    'node',
    'mysql',
    'attacher',
    'provisioner',
    'driver',
    'array',
    'initiator',
    'ceph',
    'tools',
  ] as const),
];
type ClusterSteps = Readonly<Record<(typeof mirroredNames)[number], ImageStep>>;

/** Steps that must run one after the other. */
type BuildLane = readonly ImageStep[];

interface ImagePlan {
  /** All that is known of the image set before the images are there. */
  readonly images: Omit<ImageSet, 'ids'>;
  /** Stages follow each other; the lanes of one stage may run side by side. */
  readonly stages: readonly (readonly BuildLane[])[];
}

interface ImagePlanRequest extends ImageOrigin {
  /** A minor, or a patch of one: `1.37`, `1.37.2`. */
  readonly kubernetes: string;
  /** Volumes are to be provisioned. Default: no, and its image is not made. */
  readonly provisioner?: boolean | undefined;
  /** What a storage network needs. Default: nothing, and these images are not made. */
  readonly beside?: readonly ServerImage[] | undefined;
  /** The project's root, whose files decide the keys. Default: this checkout. */
  readonly root?: string;
}

/** Throws UsageError as `releaseOf` does. */
export function planImages(request: ImagePlanRequest): ImagePlan {
  const { source, kubernetes, registry, root = projectRoot } = request;
  const { provisioner = false, beside: named = [] } = request;
  const kubernetesVersion = releaseOf(kubernetes, madeBy(request));
  const isOurs = madeBy(request) === 'built';
  const parts = isOurs ? builtParts(root, kubernetesVersion) : undefined;
  const steps: ClusterSteps =
    parts === undefined
      ? publishedSteps(root, kubernetes)
      : registry === undefined
        ? parts
        : mirroredSteps(parts, registry);
  const { node, mysql, attacher, driver, array, tools } = steps;
  const asked = provisioner ? [steps.provisioner] : [];
  const beside = named.map((name) => steps[name]);
  const images = {
    ...{ source, kubernetesVersion, node: node.ref, database: mysql.ref, attacher: attacher.ref },
    ...(provisioner ? { provisioner: steps.provisioner.ref } : {}),
    ...Object.fromEntries(named.map((name) => [name, steps[name].ref])),
    ...{ driver: driver.ref, array: array.ref, tools: tools.ref, tunableForceDetach: isOurs },
  };
  if (parts === undefined || source === 'published') {
    const load = [mysql, attacher, driver, ...asked].map(({ ref }) => ref);
    return {
      images: { ...images, creation: { node: node.ref, has: [] }, load },
      stages: [[[node, mysql, attacher, driver, array, tools, ...asked, ...beside]]],
    };
  }
  const { kubernetes: programs, pause, base, runtime, nodeWithDriver } = parts;
  const load = [driver, ...asked].map(({ ref }) => ref);
  return {
    images: { ...images, creation: { node: nodeWithDriver.ref, has: [driver.ref] }, load },
    // The compiler wants the processor, the packages the network and the disk.
    stages: [
      [
        [programs, attacher, ...asked, pause, array],
        [base, mysql, runtime, tools, ...beside],
      ],
      [[node, driver, nodeWithDriver]],
    ],
  };
}

/** The plan as a shell script to read or to paste, one line each. */
export function describePlan(plan: ImagePlan): string[] {
  const steps = plan.stages.flat(2);
  return [
    'WORK=$(mktemp -d)',
    ...steps.flatMap((step) => [`# ${step.name}: ${step.ref}`, ...step.commands]),
  ];
}

/** kind's own node image of a minor, by digest. Throws UsageError as `releaseOf` does. */
function publishedNode(kubernetes: string): string {
  const version = releaseOf(kubernetes, 'published');
  return `kindest/node:v${version}@${kubernetesReleases[minorOf(version)]?.digest ?? ''}`;
}

/** Official images are pulled, ours built from Dockerfiles on top of official ones. */
function publishedSteps(root: string, kubernetes: string): ClusterSteps {
  const pull = (name: string, ref: string): ImageStep => {
    return { name, ref, commands: [recipe.pull(ref)] };
  };
  const sidecar = (name: string, version: string): ImageStep =>
    pull(name, `registry.k8s.io/sig-storage/csi-${name}:v${version}`);
  const ours = (
    name: string,
    { files, settings }: PartInputs,
    { context = '"$WORK"', flags = '', before = [] as readonly string[] },
  ): ImagePart => {
    const file = `lib/kind/images/published/${name}.Dockerfile`;
    const inputs = { files: [...files, `${root}/${file}`], settings };
    return definePart(`published-${name}`, inputs, (key, ref) => [
      ...before,
      recipe.build(`${flags}${partLabels(name, key)}`, file, ref, context),
    ]);
  };
  const staged = stageDriver(root);
  const series = `--build-arg MYSQL_SERIES=${mysqlSeries} `;
  return {
    node: pull('node', publishedNode(kubernetes)),
    mysql: pull('mysql', `mysql:${mysqlSeries}`),
    attacher: sidecar('attacher', attacherVersion),
    provisioner: sidecar('provisioner', provisionerVersion),
    driver: ours('driver', staged, { before: staged.commands }),
    array: ours('array', { files: arrayFiles(root), settings: [] }, { context: arrayModule }),
    initiator: ours('initiator', { files: [], settings: [] }, {}),
    ceph: ours('ceph', { files: [], settings: [] }, {}),
    tools: ours('tools', { files: [], settings: [] }, { flags: series }),
  };
}

/** Flags of an image that is built from a Dockerfile. */
export const partLabels = (part: string, key: string): string =>
  `--label forcedetach.part=${part} --label forcedetach.key=${key}`;

/** The image of a part there: its tag is the key of what it was made of. */
export const mirroredRef = (registry: string, { ref }: ImagePart): string => `${registry}/${ref}`;

/**
 * The registry is asked once which bytes the tag means; those are pulled, by digest, and must say
 * that they were made of this checkout's sources.
 */
function mirroredSteps(parts: ReturnType<typeof builtParts>, registry: string): ClusterSteps {
  // As the engine pulls: without TLS from this machine only.
  const insecure = /^(127\.|localhost\b)/.test(registry);
  const steps = mirroredNames.map((name): readonly [string, ImageStep] => {
    const ref = mirroredRef(registry, parts[name]);
    const check = { insecure, label: 'forcedetach.key', value: parts[name].key };
    return [name, { name, ref, commands: recipe.pullPinned(ref, check) }];
  });
  return Object.fromEntries(steps) as ClusterSteps;
}

interface RegistryAnswer {
  readonly answers: boolean;
  /** The registry's or the engine's own words when it does not. */
  readonly why: string;
}

export function chooseSource(asked: 'auto' | ImageSource, registry: RegistryAnswer): SourceChoice {
  if (asked !== 'auto') return { source: asked, reason: `images: ${asked}, as requested` };
  if (registry.answers) {
    return { source: 'published', reason: 'images: published (a registry answers)' };
  }
  return { source: 'built', reason: `images: built here (no registry: ${registry.why})` };
}

/** Asks for the manifest of kind's node image, so that a `yes` also says that this version exists. */
export async function askRegistry(kubernetes: string, timeoutMs = 5_000): Promise<RegistryAnswer> {
  let image: string;
  try {
    image = publishedNode(kubernetes);
  } catch (error) {
    // A patch that nobody published can still be built.
    if (!(error instanceof UsageError)) throw error;
    return { answers: false, why: error.message };
  }
  const quiet = $({ quiet: true, nothrow: true });
  const seconds = timeoutMs / 1_000;
  const asked = await quiet`timeout ${seconds} ${askManifest(image)}`;
  if (asked.exitCode === 0) return { answers: true, why: '' };
  if (asked.exitCode === 124) return { answers: false, why: `no answer within ${seconds} s` };
  return { answers: false, why: asked.stderr.trim().split('\n').at(-1) ?? 'it refused' };
}
