/** The database's Kubernetes objects: its folder of manifests/ with a scenario's choices filled in. */
import { readFile } from 'node:fs/promises';
import type { KubernetesObject, V1Container, V1Deployment } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { driverName, filesDriverName } from '../storage/index.ts';
import { isDirectory, type Scenario } from '../scenario/index.ts';
import { type Database, tolerationSecondsOf } from '../run/index.ts';
import { InfrastructureError } from '../core/index.ts';
import { driverLoopsOf } from './ownership/lease.ts';
import { type RunScope, storageClassOf } from './scope.ts';

export interface WorkloadOptions {
  readonly scope: RunScope;
  /** What it says of the pod, of the disk, and of what makes the pod. */
  readonly choice: Scenario;
  readonly image: string;
  /** Its own program is in the driver's image. */
  readonly driverImage: string;
  /** Address of the API server, as pods on any node reach it. */
  readonly apiHost: string;
  /** Handle of the CSI volume, whose image exists already; of no meaning where it is provisioned. */
  readonly volumeHandle: string;
  readonly sizeBytes: number;
  /** Only these take the pod. Default: every node. */
  readonly nodes?: readonly string[];
}

/** The controller of the pods, by workload: its manifest and what that leaves open. */
const controllers = {
  'stateful-set': { file: 'statefulset', values: { POD_MANAGEMENT: 'OrderedReady' } },
  'stateful-set-parallel': { file: 'statefulset', values: { POD_MANAGEMENT: 'Parallel' } },
  'deployment-recreate': { file: 'deployment', values: { STRATEGY: 'Recreate' } },
  'deployment-rolling-update': { file: 'deployment', values: { STRATEGY: 'RollingUpdate' } },
} as const satisfies Record<Scenario['workload']['kind'], unknown>;

/** In the order to apply them: the volume first. */
export async function renderWorkload(options: WorkloadOptions): Promise<KubernetesObject[]> {
  const { choice, scope } = options;
  const { database, namespace: NAMESPACE } = scope;
  const { file, values } = controllers[choice.workload.kind];
  const isProvisioned = choice.volume.provision === 'dynamic';
  const volume = {
    ...{ ...volumeValues(choice), NAMESPACE },
    // The claim names its volume, or who is to make one.
    VOLUME_NAME: isProvisioned ? '' : scope.volumeName,
    CLASS: isProvisioned ? storageClassOf(scope) : '',
    VOLUME_HANDLE: options.volumeHandle,
    SIZE_BYTES: options.sizeBytes,
  };
  const whole = { ...volume, ...values, POD_TEMPLATE: JSON.stringify(await renderPod(options)) };
  return [
    ...(choice.selfFence.kind === 'off' ? [] : await readSelfFenceIdentity(database)),
    ...(await readManifest(`${database.name}/${isProvisioned ? 'class' : 'volume'}.yaml`, volume)),
    ...(await readManifest(`${database.name}/${file}.yaml`, whole)),
  ];
}

/** Who the self-fencing sidecar is, and what it may read. */
export const readSelfFenceIdentity = ({ name }: Database): Promise<KubernetesObject[]> =>
  readManifest(`${name}/self-fence.yaml`, {});

/** For volume.yaml and class.yaml: what Kubernetes is told, and what the driver alone reads. */
function volumeValues(choice: Scenario): Readonly<Record<string, string>> {
  const { disk, volume } = choice;
  return {
    DRIVER: isDirectory(disk.mode) ? filesDriverName : driverName,
    FS_TYPE: volume.filesystem === 'xfs' ? 'xfs' : 'ext4',
    ACCESS_MODE: choice.volume.accessMode,
    DETACH_MODE: disk.mode,
    CUT_AFTER_MS: String(choice.disk.cutAfter),
    WATCHER_CHECK: choice.disk.watcherCheck,
    TRANSPORT: disk.transport,
    REVOCATION: disk.revocation,
    ATTACH_WHILE_BUSY: choice.disk.attachWhileBusy,
    FILE_LOCKS: choice.disk.fileLocks,
    FLUSHES: choice.disk.flushes,
    KEEP_WRITES: String(choice.disk.keepWrites),
    MKFS: volume.filesystem === 'ext4-mmp' ? 'mmp' : 'plain',
  };
}

/** Holds a deleted pod's object until somebody takes it away. */
export const podFinalizer = 'forcedetach.dev/held';

/** A V1PodTemplateSpec, as far as it is looked into. */
interface PodTemplate {
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly volumeMounts?: readonly unknown[];
    }[];
    readonly volumes: readonly unknown[];
  };
}

async function renderPod(options: WorkloadOptions): Promise<PodTemplate> {
  const { choice, scope, nodes } = options;
  const { name, pod } = scope.database;
  const { workload } = choice;
  const template = await readTemplate(`${name}/pod.yaml`, {
    ...pod.values(options.image, choice.database),
    TOLERATION_SECONDS: tolerationSecondsOf(choice.timers.toleration),
    TERMINATION_GRACE_SECONDS: choice.workload.terminationGrace / 1000,
    AFFINITY: JSON.stringify(nodes === undefined ? {} : affinityTo(nodes)),
    FINALIZERS: JSON.stringify(choice.workload.finalizer ? [podFinalizer] : []),
    LIFECYCLE: JSON.stringify(
      workload.preStop === 0 ? {} : { preStop: { sleep: { seconds: workload.preStop / 1000 } } },
    ),
  });
  if (choice.selfFence.kind === 'off') return template;
  const sidecar = await readTemplate(`${name}/self-fence-pod.yaml`, {
    DRIVER_IMAGE: options.driverImage,
    API_HOST: options.apiHost,
    ...selfFenceValues(scope.database, choice),
  });
  return merge(template, sidecar);
}

/** Kubelet itself gives its node this label. */
const hostLabel = 'kubernetes.io/hostname';

function affinityTo(nodes: readonly string[]): object {
  const matchExpressions = [{ key: hostLabel, operator: 'In', values: nodes }];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
}

function selfFenceValues(
  { server, pod }: Database,
  { selfFence }: Scenario,
): Record<string, string> {
  const takesFileSystem = selfFence.kind === 'lease-read-only';
  const command = [
    ...['node', '/app/lib/kind/self-fence/main.ts', '--gate=/self-fence/open'],
    `--ends=${server}`,
    `--after-ms=${selfFence.after}`,
    ...(takesFileSystem ? [`--folder=${pod.dataFolder}`] : []),
  ];
  const security = takesFileSystem ? { privileged: true } : { runAsUser: 0 };
  return {
    SELF_FENCE_COMMAND: JSON.stringify(command),
    SELF_FENCE_SECURITY: JSON.stringify(security),
  };
}

const readTemplate = async (path: string, values: ManifestValues): Promise<PodTemplate> =>
  (await readManifest(path, values))[0] as unknown as PodTemplate;

/** Merges as a strategic merge patch does: containers by name, their mounts and the volumes added. */
function merge(template: PodTemplate, patch: PodTemplate): PodTemplate {
  const containers = template.spec.containers.map((container) => {
    const more = patch.spec.containers.find(({ name }) => name === container.name);
    const volumeMounts = [...(container.volumeMounts ?? []), ...(more?.volumeMounts ?? [])];
    return { ...container, ...more, volumeMounts };
  });
  const volumes = [...template.spec.volumes, ...patch.spec.volumes];
  return { ...template, spec: { ...template.spec, ...patch.spec, containers, volumes } };
}

export interface CsiManifestOptions {
  /** Images as the nodes have them. */
  readonly driverImage: string;
  readonly attacherImage: string;
  /** The official external-provisioner. Default: nobody makes volumes. */
  readonly provisionerImage?: string | undefined;
  /** The range of the cluster's lease. */
  readonly loops: { readonly first: number; readonly count: number };
  /** The shared directory, the same path on each node. */
  readonly sharedDir: string;
  /** At a node's shutdown. Default: last. */
  readonly driverEnds?: Scenario['fault']['driverEnds'] | undefined;
  /** By which Kubernetes knows the two drivers. Default: our own. */
  readonly names?: { readonly disk: string; readonly files: string };
}

/** In the order to apply them. */
export async function renderCsiManifests(options: CsiManifestOptions): Promise<KubernetesObject[]> {
  const { disk = driverName, files: shared = filesDriverName } = options.names ?? {};
  const values = {
    DRIVER: disk,
    FILES_DRIVER: shared,
    DRIVER_IMAGE: options.driverImage,
    ATTACHER_IMAGE: options.attacherImage,
    LOOPS: driverLoopsOf(options.loops),
    SHARED: options.sharedDir,
    NODE_PRIORITY: options.driverEnds === 'with-pods' ? '' : 'system-node-critical',
  };
  const { provisionerImage } = options;
  const rights = provisionerImage === undefined ? [] : ['csi/provisioner.yaml'];
  const files = ['csi/driver.yaml', ...rights, 'csi/controller.yaml', 'csi/node.yaml'];
  const objects = (await Promise.all(files.map((file) => readManifest(file, values)))).flat();
  if (provisionerImage !== undefined) addProvisioner(objects, provisionerImage);
  return objects;
}

/** An object as the manifest has it: no instance of the client's class. */
type Plain<T> = { [K in keyof T]: T[K] };

/** Beside the attacher, on the same socket. */
function addProvisioner(objects: readonly KubernetesObject[], image: string): void {
  const { spec } = objects.find(({ kind }) => kind === 'Deployment') as V1Deployment;
  const containers = spec?.template.spec?.containers as Plain<V1Container>[];
  const [attacher] = containers;
  if (attacher === undefined) return;
  containers.push({
    ...{ ...attacher, name: 'provisioner', image },
    args: [
      '--csi-address=/csi/csi.sock',
      '--v=3',
      '--default-fstype=ext4',
      '--retry-interval-max=10s',
    ],
  });
}

const manifests = new URL('../../manifests/', import.meta.url);

type ManifestValues = Readonly<Record<string, string | number>>;

/** `path` is relative to manifests/. */
export const readManifest = async (
  path: string,
  values: ManifestValues,
): Promise<KubernetesObject[]> =>
  fillManifest(await readFile(new URL(path, manifests), 'utf8'), values);

/** Throws InfrastructureError `MANIFEST_INVALID` for a name without a value, or bad YAML. */
export function fillManifest(text: string, values: ManifestValues): KubernetesObject[] {
  const filled = text.replaceAll(/^[^#\n]*\$\{.*$/gm, (line) =>
    line.replaceAll(/\$\{([A-Z_]+)\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw invalid(`\${${name}} has no value`);
      return String(value);
    }),
  );
  return parseAllDocuments(filled).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw invalid(error.message);
    return document.toJS() as KubernetesObject;
  });
}

const invalid = (why: string): InfrastructureError =>
  new InfrastructureError('MANIFEST_INVALID', `a manifest cannot be used: ${why}`);
