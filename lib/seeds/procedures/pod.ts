/** The pod of a procedure: it sleeps, on a node of our choice, with a volume where one is wanted. */
import type { V1Pod } from '@kubernetes/client-node';
import type { SeedVolume } from './volume.ts';

export const podLabel = 'app=forcedetach-seed';
export const labels = { app: 'forcedetach-seed' };

export interface PodChoice {
  readonly volume?: SeedVolume;
  /** Through the scheduler; default any. */
  readonly node?: string;
  /** Past the scheduler: the pod is bound to the node as it is made. */
  readonly bound?: boolean;
  /** Default: sleeps for ever. */
  readonly command?: readonly string[];
  /** terminationGracePeriodSeconds; default 1, and never 0: that alone would be a force-delete. */
  readonly graceS?: number;
  /** Default Always. */
  readonly restart?: 'Always' | 'Never';
}

export function podObject(name: string, image: string, choice: PodChoice): V1Pod {
  const {
    volume,
    node,
    bound = false,
    command = ['sleep', 'infinity'],
    graceS = 1,
    restart,
  } = choice;
  const data = { name: 'data', persistentVolumeClaim: { claimName: volume?.name ?? '' } };
  const place =
    node === undefined
      ? {}
      : bound
        ? { nodeName: node }
        : { nodeSelector: { 'kubernetes.io/hostname': node } };
  return {
    metadata: { name, labels },
    spec: {
      ...place,
      restartPolicy: restart ?? 'Always',
      terminationGracePeriodSeconds: graceS,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      containers: [
        {
          name: 'main',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: [...command],
          ...(volume === undefined ? {} : { volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
        },
      ],
      ...(volume === undefined ? {} : { volumes: [data] }),
    },
  };
}
