/** The Kubernetes objects of a probe: its namespace, claims and pods. Pure. */
import { createHash } from 'node:crypto';
import type { V1Namespace, V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node';
import type { ProbeTrial, TrialPlan } from './plan.ts';

export const probeLabel = 'forcedetach.probe';
/** Value of a namespace that somebody made for probes: they leave it, and take away only what they made. */
export const givenValue = 'given';
/** Annotations: their values have blanks, colons and the like. */
export const ownerAnnotation = 'forcedetach.owner';
export const expiryAnnotation = 'forcedetach.expires';

export const exampleNamespace = 'forcedetach-probe-00000000';

const labelsOf = (namespace: string): Record<string, string> => ({
  'app.kubernetes.io/managed-by': 'forcedetach',
  [probeLabel]: 'yes',
  'forcedetach.run': namespace,
});

/** What pods may do there: those of a cut enter their node. */
export type PodSecurity = 'baseline' | 'privileged';
export const securityLabel = 'pod-security.kubernetes.io/enforce';

/** `expires`: after that anybody's `probe --clean` may remove it. */
export const namespaceObject = (
  name: string,
  owner: string,
  expires: Date,
  security: PodSecurity,
): V1Namespace => ({
  metadata: {
    name,
    labels: { ...labelsOf(name), [securityLabel]: security },
    annotations: { [ownerAnnotation]: owner, [expiryAnnotation]: expires.toISOString() },
  },
});

/** Namespace as somebody makes it who grants rights in it. */
export const givenNamespaceObject = (
  name: string,
  security: PodSecurity,
  annotations: Readonly<Record<string, string>>,
): object => ({
  ...{ apiVersion: 'v1', kind: 'Namespace' },
  metadata: {
    name,
    labels: { [probeLabel]: givenValue, [securityLabel]: security },
    ...(Object.keys(annotations).length > 0 && { annotations }),
  },
});

export interface ObjectTemplate {
  readonly namespace: string;
  readonly plan: TrialPlan;
  readonly program: string;
  /** Grace of writers; 0: their eviction takes them from the API at once. Default: `graceS`. */
  readonly writerGraceS?: number;
  /** Whose claims they are: in a namespace that was given nothing else tells. */
  readonly owner?: string;
  /** The claims are there before any pod. */
  readonly isProvisioned?: boolean;
}

export const claimObject = (
  { namespace, plan, owner }: ObjectTemplate,
  trial: ProbeTrial,
): V1PersistentVolumeClaim => ({
  metadata: {
    ...{ name: trial.name, labels: labelsOf(namespace) },
    annotations: {
      ...(owner !== undefined && { [ownerAnnotation]: owner }),
      // By it a provisioner makes the volume where that node can reach it: a class that binds at once would take
      // any zone; one that waits would wait for the scheduler.
      'volume.kubernetes.io/selected-node': plan.nodes[0],
    },
  },
  spec: {
    accessModes: ['ReadWriteOnce'],
    volumeMode: plan.volumeMode,
    storageClassName: plan.storageClass,
    resources: { requests: { storage: plan.size } },
  },
});

/** `writer` runs on the plan's first node, `next` on its second. */
export type PodRole = 'writer' | 'next';

export const podName = (trial: Pick<ProbeTrial, 'name'>, role: PodRole): string =>
  `${trial.name}-${role === 'writer' ? 'a' : 'b'}`;
/** Container of every pod. */
export const containerName = 'probe';

/** By which the two pods of a trial know the slots of theirs. */
export const tokenOf = (namespace: string, { name }: ProbeTrial): string =>
  createHash('sha256').update(`${namespace}/${name}`).digest('hex').slice(0, 16);

const devicePath = '/dev/probe';
const folder = '/probe';

/** A writer lives so much longer than the watch: it starts before, and must not end in it. */
const spareMs = 120_000;
const nextEveryMs = 200;

/** What pod/writer.mjs reads from its environment; `journal` may come: a file that gets each line, too. */
export function programOf({ namespace, plan }: ObjectTemplate, trial: ProbeTrial, role: PodRole) {
  const isBlock = plan.volumeMode === 'Block';
  const untilMs = plan.horizonMs + spareMs;
  const isWriter = role === 'writer';
  return {
    ...{ role, isBlock, path: isBlock ? devicePath : `${folder}/slots`, untilMs },
    token: tokenOf(namespace, trial),
    slots: {
      writer: Math.ceil(untilMs / plan.writeEveryMs),
      next: Math.ceil(untilMs / nextEveryMs),
    },
    everyMs: isWriter ? plan.writeEveryMs : nextEveryMs,
    quietAfterMs: plan.quietAfterMs,
    // 0: never quiet.
    quietForMs: isWriter && trial.variant === 'idle' ? plan.quietForMs : 0,
    // It ignores SIGTERM, as a database that has a lot to write before it ends.
    writesOn: isWriter && trial.variant === 'force-deleted',
  };
}

export const graceS = 2;

const inNode = (text: string): string[] => ['node', '--input-type=module', '--eval', text];

const commonSpec = {
  ...{ restartPolicy: 'Never', automountServiceAccountToken: false, enableServiceLinks: false },
};
const containerOf = (image: string) => ({
  ...{ name: containerName, image, imagePullPolicy: 'IfNotPresent' },
});

const journalMount = '/journal';

/** `journalFolder`: of its node, where its lines go to a file as well. Default: to its log only. */
export function podObject(
  { namespace, plan, ...template }: ObjectTemplate,
  trial: ProbeTrial,
  role: PodRole,
  journalFolder?: string,
): V1Pod {
  const [name, isWriter] = [podName(trial, role), role === 'writer'];
  const program = programOf({ namespace, plan, ...template }, trial, role);
  const journal = journalFolder === undefined ? {} : { journal: `${journalMount}/${name}.log` };
  return {
    metadata: { name, labels: labelsOf(namespace) },
    spec: {
      ...commonSpec,
      terminationGracePeriodSeconds: isWriter ? (template.writerGraceS ?? graceS) : graceS,
      affinity: { nodeAffinity: onlyOn(plan.nodes[isWriter ? 0 : 1]) },
      containers: [
        {
          ...containerOf(plan.image),
          command: inNode(template.program),
          env: [{ name: 'PROBE', value: JSON.stringify({ ...program, ...journal }) }],
          resources: { requests: { cpu: '10m', memory: '48Mi' }, limits: { memory: '192Mi' } },
          // A new volume belongs to root.
          securityContext: {
            ...{ runAsUser: 0, allowPrivilegeEscalation: false },
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'RuntimeDefault' },
          },
          ...(program.isBlock && { volumeDevices: [{ name: 'volume', devicePath }] }),
          volumeMounts: [
            ...(program.isBlock ? [] : [{ name: 'volume', mountPath: folder }]),
            ...(journalFolder === undefined ? [] : [{ name: 'journal', mountPath: journalMount }]),
          ],
        },
      ],
      volumes: [
        { name: 'volume', persistentVolumeClaim: { claimName: trial.name } },
        ...(journalFolder === undefined
          ? []
          : [{ name: 'journal', hostPath: { path: journalFolder, type: 'DirectoryOrCreate' } }]),
      ],
    },
  };
}

type Where = Readonly<Record<'namespace' | 'node' | 'image', string>>;

/** Runs a command in the namespaces of the node's own first process, and ends. */
export const hostPod = (where: Where, name: string, argv: readonly string[]): V1Pod =>
  shortLived(
    where,
    name,
    { hostPID: true },
    {
      command: ['nsenter', '--target=1', '--mount', '--uts', '--ipc', '--net', '--pid', '--'],
      args: [...argv],
      securityContext: { privileged: true },
    },
  );

/** Says each half second whether another node's kubelet answers at its port. */
const vantageProgram = `
import { connect } from 'node:net';
const [host, port] = [process.env.TARGET, 10250];
let lines = 0;
for (;;) {
  const began = performance.timeOrigin + performance.now();
  const word = await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (word) => { socket.destroy(); resolve(word); };
    socket.once('connect', () => end('up')).once('timeout', () => end('down')).once('error', () => end('down'));
  });
  console.log((lines += 1) + ' ' + word + ' ' + began.toFixed(0));
  await new Promise((resolve) => setTimeout(resolve, 500));
}`;

export const vantageName = 'vantage';

export const vantagePod = (where: Where, target: string): V1Pod =>
  shortLived(
    where,
    vantageName,
    {},
    {
      ...{ command: inNode(vantageProgram), env: [{ name: 'TARGET', value: target }] },
    },
  );

/** It comes to a node that is not Ready, too: what it does there mends it. */
const shortLived = (
  { namespace, node, image }: Where,
  name: string,
  spec: object,
  container: object,
): V1Pod => ({
  metadata: { name, labels: labelsOf(namespace) },
  spec: {
    ...{ ...commonSpec, ...spec, terminationGracePeriodSeconds: 1 },
    affinity: { nodeAffinity: onlyOn(node) },
    tolerations: [{ operator: 'Exists' }],
    containers: [{ ...containerOf(image), ...container }],
  },
});

/** By the scheduler, which a class that waits for the first consumer needs. */
export const onlyOn = (node: string, operator: 'In' | 'NotIn' = 'In'): object => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator, values: [node] }] }],
  },
});

/** Name that Kubernetes gives it: `getAttachmentName` in pkg/volume/csi/csi_attacher.go. */
export const attachmentName = (handle: string, driver: string, node: string): string =>
  `csi-${createHash('sha256').update(`${handle}${driver}${node}`).digest('hex')}`;
