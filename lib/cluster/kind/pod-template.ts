/** The pod of the database: its own pod.yaml, with the self-fencing sidecar where asked for. */
import { database } from '../../database/chosen.ts';
import type { DatabaseChoice } from '../../database/fields.ts';
import type { Scenario } from '../../experiment/scenario.ts';
import { tolerationSecondsOf } from '../timers.ts';
import { readManifest } from './create/manifest.ts';

/** Holds a deleted pod's object until somebody takes it away. */
export const podFinalizer = 'forcedetach.dev/held';

export interface PodOptions {
  /** The database's. */
  readonly image: string;
  /** Its own program is in the driver's image. */
  readonly driverImage: string;
  /** Address of the API server, as pods on any node reach it. */
  readonly apiHost: string;
  readonly choice: DatabasePodChoice;
  /** Only these take the pod. Default: every node. */
  readonly nodes?: readonly string[];
}

/** What a scenario says about the pod. */
export type DatabasePodChoice = DatabaseChoice &
  Pick<
    Scenario,
    | 'tolerationMs'
    | 'terminationGraceS'
    | 'podFinalizer'
    | 'preStopS'
    | 'selfFence'
    | 'selfFenceAfterMs'
  >;

interface PodContainer {
  readonly name: string;
  readonly volumeMounts?: readonly unknown[];
}

/** A V1PodTemplateSpec, as far as it is looked into. */
export interface PodTemplate {
  readonly spec: {
    readonly containers: readonly PodContainer[];
    readonly volumes: readonly unknown[];
  };
}

export async function renderPod(options: PodOptions): Promise<PodTemplate> {
  const { choice } = options;
  const template = await readTemplate('pod.yaml', {
    ...database.pod.values(options.image, choice),
    TOLERATION_SECONDS: tolerationSecondsOf(choice.tolerationMs),
    TERMINATION_GRACE_SECONDS: choice.terminationGraceS,
    AFFINITY: JSON.stringify(affinityOf(options.nodes)),
    FINALIZERS: JSON.stringify(choice.podFinalizer ? [podFinalizer] : []),
    LIFECYCLE: JSON.stringify(lifecycleOf(choice)),
  });
  if (choice.selfFence === 'off') return template;
  const sidecar = await readTemplate('self-fence-pod.yaml', {
    DRIVER_IMAGE: options.driverImage,
    API_HOST: options.apiHost,
    ...selfFenceValues(choice),
  });
  return merge(template, sidecar);
}

/** Kubelet itself gives its node this label. */
const hostLabel = 'kubernetes.io/hostname';

function affinityOf(nodes: readonly string[] | undefined): object {
  if (nodes === undefined) return {};
  const matchExpressions = [{ key: hostLabel, operator: 'In', values: nodes }];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
}

function selfFenceValues({
  selfFence,
  selfFenceAfterMs,
}: DatabasePodChoice): Record<string, string> {
  const takesFileSystem = selfFence === 'lease-read-only';
  const command = [
    ...['node', '/app/lib/self-fence/main.ts', '--gate=/self-fence/open'],
    `--ends=${database.server}`,
    `--after-ms=${selfFenceAfterMs}`,
    ...(takesFileSystem ? [`--folder=${database.pod.dataFolder}`] : []),
  ];
  const security = takesFileSystem ? { privileged: true } : { runAsUser: 0 };
  return {
    SELF_FENCE_COMMAND: JSON.stringify(command),
    SELF_FENCE_SECURITY: JSON.stringify(security),
  };
}

const lifecycleOf = ({ preStopS }: DatabasePodChoice): object =>
  preStopS === 0 ? {} : { preStop: { sleep: { seconds: preStopS } } };

async function readTemplate(
  name: string,
  values: Readonly<Record<string, string | number>>,
): Promise<PodTemplate> {
  const [template] = await readManifest(`${database.name}/${name}`, values);
  return template as unknown as PodTemplate;
}

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
