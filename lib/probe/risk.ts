/**
 * Is a cluster at risk? The five checks of docs/how-to/is-my-cluster-at-risk.md and its tree, answered from what
 * the cluster shows. Reads only; what is not allowed to be read is a line that says so.
 */
import type { V1Deployment, V1PersistentVolume, V1Pod } from '@kubernetes/client-node';
import { harnessVersion, lossTaints, outOfServiceKey, type UserClients } from '../core/index.ts';
import { driverServing } from '../scenario/index.ts';
import { allActors, plainName } from './actors.ts';
import { type Facts, type Reading, isOwnTopology, readCluster } from './facts.ts';
import { documentedMode } from './predict.ts';

/** `ask`: it depends on what a person knows. `unread`: the cluster does not show it, or not to you. */
export const riskLevels = ['at risk', 'ask', 'unread', 'safe'] as const;
export type RiskLevel = (typeof riskLevels)[number];

interface RiskLine {
  readonly check: keyof typeof checks;
  readonly what: string;
  readonly found: string;
  readonly means: string;
  readonly level: RiskLevel;
  /** What was read. */
  readonly source: string;
}

export interface RiskReport {
  readonly schemaVersion: 1;
  readonly kind: 'risk';
  readonly forcedetach: string;
  readonly askedAt: string;
  readonly context: string;
  readonly kubernetes: string;
  /** The worst of its volumes. */
  readonly level: RiskLevel;
  readonly lines: readonly RiskLine[];
}

/** By their number on the page. */
export const checks = {
  1: 'Which volumes, which drivers',
  2: 'Who acts without asking',
  3: 'Pods that need no action',
  4: 'How long until the second node',
  5: 'What the database promises',
} as const;

/** Throws as `answered` does. */
export async function readRisk(clients: UserClients): Promise<RiskReport> {
  const reading = await readCluster(clients);
  const { core, apps } = clients;
  const volumes = await reading.list('persistentvolumes', core.listPersistentVolume());
  const deployments = await reading.list('deployments', apps.listDeploymentForAllNamespaces());
  const actors = actorLines(reading, await definitionsOf(reading));
  const pods = podLines(reading, deployments);
  const acting = [...actors, ...pods].filter(({ level }) => level === 'at risk').length;
  // What may not be read may act.
  const isBlind = reading.refused.some(({ what }) => hides.test(what));
  const groups = await groupsOf(reading, volumes);
  const facts = groups[0]?.facts ?? (await reading.factsOfDriver(''));
  const lines = [
    ...groups.map((group) => volumeLine(group, acting === 0 && isBlind ? undefined : acting)),
    ...unread(1, reading, /^list persistentvolumes$/, 'no volume can be judged'),
    ...actors,
    ...pods,
    ...timerLines(facts, reading),
    ...databaseLines(reading),
  ];
  // Each refusal has a line.
  const said = new Set(lines.map(({ what }) => what));
  const unsaid = reading.refused.filter(({ what }) => !said.has(what));
  lines.push(...unread(1, { refused: unsaid }, /./, 'the answer is from documents alone'));
  return {
    ...{ schemaVersion: 1, kind: 'risk', forcedetach: harnessVersion() },
    ...{ askedAt: new Date().toISOString(), context: clients.context },
    kubernetes: facts.kubernetes,
    level: worst(lines.filter(({ check }) => check === 1)),
    lines,
  };
}

const worst = (lines: readonly RiskLine[]): RiskLevel =>
  riskLevels.find((level) => lines.some((each) => each.level === level)) ?? 'safe';

const lineOf =
  (check: RiskLine['check'], source: string) =>
  (level: RiskLevel, what: string, found: string, means: string): RiskLine => ({
    ...{ check, source, level, what, found, means },
  });

/** A line for each such question that was refused. */
const unread = (
  check: RiskLine['check'],
  { refused }: Pick<Reading, 'refused'>,
  what: RegExp,
  means: string,
): RiskLine[] =>
  refused
    .filter((each) => what.test(each.what))
    .map((each) => lineOf(check, 'the API server')('unread', each.what, each.why, means));

/** Without these nobody knows who acts. */
const hides = /^list (pods|customresourcedefinitions|deployments)$/;

/** Volumes that differ in nothing that matters. */
interface VolumeGroup {
  readonly facts: Facts;
  readonly claims: readonly string[];
  readonly accessModes: readonly string[];
  /** The one node from where they can be reached. */
  readonly only: string | undefined;
}

async function groupsOf(
  reading: Reading,
  volumes: readonly V1PersistentVolume[],
): Promise<VolumeGroup[]> {
  const groups: VolumeGroup[] = [];
  // Volumes of one class may differ in what else matters.
  const read = new Map<string, Facts>();
  const keyOf = (volume: V1PersistentVolume): string =>
    JSON.stringify([
      provisionerOf(volume),
      volume.spec?.storageClassName,
      volume.spec?.accessModes?.toSorted(),
      onlyNode(volume, reading),
    ]);
  for (const same of Map.groupBy(volumes, keyOf).values()) {
    const [first] = same;
    if (first === undefined) continue;
    const [provisioner, className] = [provisionerOf(first), first.spec?.storageClassName ?? ''];
    const key = JSON.stringify([provisioner, className]);
    const facts = read.get(key) ?? (await factsFor(reading, provisioner, className));
    read.set(key, facts);
    groups.push({
      facts,
      claims: same.map(nameOf),
      accessModes: first.spec?.accessModes ?? [],
      only: onlyNode(first, reading),
    });
  }
  return groups;
}

/** By its class, where that is of the volume's own driver. */
async function factsFor(
  { factsOf, factsOfDriver }: Reading,
  provisioner: string,
  className: string,
): Promise<Facts> {
  const ofClass = className === '' ? undefined : await factsOf(className);
  return ofClass?.driver === provisioner ? ofClass : factsOfDriver(provisioner);
}

const nameOf = ({ metadata, spec }: V1PersistentVolume): string =>
  spec?.claimRef === undefined
    ? (metadata?.name ?? '')
    : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`;

/** In-tree sources by their provisioner, of which data/drivers.yaml names the driver (k8s.io/csi-translation-lib). */
const provisioners: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'kubernetes.io/aws-ebs',
  azureDisk: 'kubernetes.io/azure-disk',
  azureFile: 'kubernetes.io/azure-file',
  cinder: 'kubernetes.io/cinder',
  gcePersistentDisk: 'kubernetes.io/gce-pd',
  portworxVolume: 'kubernetes.io/portworx-volume',
  rbd: 'kubernetes.io/rbd',
  vsphereVolume: 'kubernetes.io/vsphere-volume',
};
const notSources = new Set(
  'accessModes capacity claimRef mountOptions nodeAffinity persistentVolumeReclaimPolicy storageClassName volumeAttributesClassName volumeMode'.split(
    ' ',
  ),
);

/** Name of the CSI driver, or of the in-tree source. */
function provisionerOf({ spec }: V1PersistentVolume): string {
  if (spec?.csi?.driver !== undefined) return spec.csi.driver;
  const set = Object.entries(spec ?? {}).filter(([, value]) => value !== undefined);
  const source = set.map(([key]) => key).find((key) => !notSources.has(key)) ?? 'unknown';
  return driverServing(provisioners[source] ?? source);
}

/** In-tree sources that Kubernetes attaches nowhere. */
const unattached = new Set(['cephfs', 'glusterfs', 'nfs']);
const ofOneNode = new Set(['hostPath', 'local']);

/** Of a volume that names one node by a label of its own; a zone with one node is none. */
function onlyNode({ spec }: V1PersistentVolume, { nodes }: Pick<Reading, 'nodes'>) {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const names = terms.map(({ matchExpressions = [] }) => {
    const found = matchExpressions.flatMap(({ key, operator, values = [] }) => {
      if (operator !== 'In' || values.length !== 1) return [];
      const isOwn = nodes.some(({ metadata: { name = '', labels = {} } = {} }) => {
        return labels[key] === values[0] && isOwnTopology({ name, labels }, key);
      });
      return isOwn || key === 'kubernetes.io/hostname' ? values : [];
    });
    return found[0];
  });
  return new Set(names).size === 1 ? names[0] : undefined;
}

function volumeLine(group: VolumeGroup, acting: number | undefined): RiskLine {
  const { facts, claims, accessModes } = group;
  const { mode, sure } = documentedMode(facts);
  const [level, means] = answerOf(group, mode, acting);
  const shown = claims.slice(0, 3).join(', ') + (claims.length > 3 ? ', …' : '');
  const ofClass = facts.storageClass?.metadata?.name;
  const what = `${claims.length} of ${ofClass === undefined ? '' : `class ${ofClass}, `}${facts.driver}`;
  const as = mode === undefined ? 'nothing documented' : `${mode} (${sure})`;
  return lineOf(1, 'PersistentVolumes, StorageClass, CSIDriver, data/drivers.yaml')(
    level,
    what,
    `${shown}: ${accessModes.join(', ')}; behaves like ${as}`,
    means,
  );
}

/** The page's tree. */
function answerOf(
  { facts, accessModes, only }: VolumeGroup,
  mode: ReturnType<typeof documentedMode>['mode'],
  acting: number | undefined,
): readonly [RiskLevel, string] {
  if (only !== undefined || mode === 'local' || ofOneNode.has(facts.driver))
    return ['safe', `only ${only ?? 'its node'} reaches it: wait, or give the claim up`];
  if (facts.csiDriver?.spec.attachRequired === false || unattached.has(facts.driver))
    return ['at risk', 'nothing is attached or fenced: only the file lock of the database is left'];
  if (accessModes.includes('ReadWriteMany'))
    return ['at risk', 'ReadWriteMany: a second node is admitted at the eviction'];
  if (mode === 'fenced' || mode === 'reservation')
    return ['safe', 'the storage cuts the old node off first'];
  if (mode === 'pending-while-busy') return ['safe', 'no second node; perhaps nothing serves'];
  if (mode === 'exclusive')
    return [
      'ask',
      'at risk if a node can lose its storage network alone, when the link comes back',
    ];
  if (mode === 'fence-if-out-of-service')
    return [
      'ask',
      'fenced only under the out-of-service taint; at risk if a pod is only force-deleted',
    ];
  if (mode === 'shared-file') return ['at risk', 'only the file lock of the database is left'];
  if (acting === undefined)
    return ['unread', 'two writers if something of checks 2 and 3 acts, which may not be read'];
  if (acting === 0)
    return [
      'ask',
      'safe, and down, until somebody deletes a pod by force, or taints or deletes a node',
    ];
  const writers = mode === 'ack-early' ? 'two writers for seconds' : 'two writers';
  return ['at risk', `${writers}: ${acting} of checks 2 and 3 let a second node in`];
}

interface Definition {
  readonly metadata?: { readonly name?: string };
}

async function definitionsOf({ clients, list }: Reading): Promise<readonly Definition[]> {
  const asked = {
    ...{ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' },
  };
  const answer = clients.custom.listClusterCustomObject(asked) as Promise<{ items: Definition[] }>;
  return list('customresourcedefinitions', answer);
}

function actorLines(reading: Reading, definitions: readonly Definition[]): RiskLine[] {
  const source = 'CustomResourceDefinitions and pods, data/actors.yaml';
  const { refused, pods, nodes } = reading;
  const podNames = pods.map(({ metadata }) => metadata?.name ?? '');
  const lines = allActors().flatMap((actor) => {
    const { crds, pods: running, does, proof, safe } = actor;
    const seen = [
      definitions.map(({ metadata }) => metadata?.name ?? '').find((name) => crds?.test(name)),
      podNames.find((name) => running?.test(name)),
    ].filter((name) => name !== undefined);
    if (seen.length === 0) return [];
    const means = `it ${does}. Proof that the node is off: ${proof}`;
    return lineOf(2, source)(safe ? 'safe' : 'at risk', plainName(actor), seen.join(', '), means);
  });
  const tainted = nodes.filter(({ spec }) =>
    spec?.taints?.some(({ key }) => key === outOfServiceKey),
  );
  const left = 'its volumes are detached at once; take it off once the machine was off and is back';
  return [
    ...lines,
    ...tainted.map(({ metadata }) =>
      lineOf(2, 'Nodes')('at risk', metadata?.name ?? '', 'has the out-of-service taint', left),
    ),
    ...unread(2, reading, /^list customresourcedefinitions$/, 'some tools cannot be seen'),
    ...unread(2, reading, /^list pods$/, 'no tool can be seen by its pods'),
    ...unread(2, reading, /^list nodes$/, 'no taint can be seen'),
    ...(lines.length > 0 || refused.some(({ what }) => what === 'list pods')
      ? []
      : [lineOf(2, source)('ask', 'tools', 'none is known', 'a person with kubectl counts, too')]),
  ];
}

function podLines(reading: Reading, deployments: readonly V1Deployment[]): RiskLine[] {
  const withClaim = reading.pods.filter(hasClaim);
  const at = lineOf(3, 'Pods and Deployments');
  const some = (level: RiskLevel, what: string, found: readonly string[], means: string) =>
    found.length === 0 ? [] : [at(level, what, found.join(', '), means)];
  const graceless = withClaim.filter(({ spec }) => spec?.terminationGracePeriodSeconds === 0);
  const ended = withClaim.filter(({ status }) => /^(Failed|Succeeded)$/.test(status?.phase ?? ''));
  const looping = withClaim.filter(
    ({ metadata, status }) =>
      metadata?.ownerReferences?.some(({ kind }) => kind === 'ReplicaSet') === true &&
      status?.containerStatuses?.every(({ state }) => state?.waiting !== undefined) === true,
  );
  const rolling = deployments.filter(
    ({ spec }) =>
      spec?.strategy?.type !== 'Recreate' && hasClaim({ spec: spec?.template.spec } as V1Pod),
  );
  const lines = [
    ...some('at risk', 'grace period 0', graceless.map(named), 'the eviction is a forced deletion'),
    ...some(
      'at risk',
      'in a crash loop, of a Deployment',
      looping.map(named),
      'the eviction lets the volume go',
    ),
    ...some(
      'ask',
      'ended by their kubelet, or finished',
      ended.map(named),
      'if the node disappears before the unmount, the six minutes start without any action',
    ),
    ...some(
      'ask',
      'Deployments that roll',
      rolling.map(named),
      'a rolling update on one node runs two servers on one claim: use Recreate or ReadWriteOncePod',
    ),
  ];
  const none = `none of ${withClaim.length} pods with a claim`;
  const isRefused = reading.refused.some(({ what }) => what === 'list pods');
  return [
    ...lines,
    ...unread(3, reading, /^list pods$/, 'no pod can be judged'),
    ...unread(3, reading, /^list deployments$/, 'rolling updates cannot be seen'),
    ...(lines.length > 0 || isRefused
      ? []
      : [at('safe', 'pods', none, 'an eviction alone lets no second node in')]),
  ];
}

const hasClaim = ({ spec }: V1Pod): boolean =>
  spec?.volumes?.some((volume) => volume.persistentVolumeClaim ?? volume.ephemeral) === true;
const named = ({ metadata }: V1Pod | V1Deployment): string =>
  `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;

function timerLines({ kubernetes, controllerManager }: Facts, reading: Reading): RiskLine[] {
  const flag = (name: string): string | undefined =>
    controllerManager?.findLast((each) => each.startsWith(`--${name}`))?.split('=')[1];
  const minor = Number(/^v?1\.(\d+)/.exec(kubernetes)?.[1] ?? Number.NaN);
  const grace = flag('node-monitor-grace-period');
  const waits = reading.pods.filter(hasClaim).flatMap(({ spec }) => {
    const tolerated = spec?.tolerations?.find(({ key }) => key === lossTaints.Unknown);
    return tolerated === undefined ? [] : [tolerated.tolerationSeconds ?? Infinity];
  });
  const [least, most] = [Math.min(...waits), Math.max(...waits)];
  const evicted =
    waits.length === 0 ? 'not read' : least === most ? `${least} s` : `${least} to ${most} s`;
  const gaveUp =
    grace ?? (minor >= 32 ? '50s, by default' : minor < 32 ? '40s, by default' : undefined);
  const isOff = flag('disable-force-detach-on-timeout') === 'true';
  const manager = lineOf(
    4,
    controllerManager === undefined ? 'no pod of it can be read' : 'its pod',
  );
  return [
    lineOf(4, 'version, kube-controller-manager, tolerations')(
      'ask',
      'until the eviction',
      `a node is given up after ${gaveUp ?? 'an unknown time'}, its pods are evicted after ${evicted}`,
      'an evicted pod stays Terminating and keeps its volume',
    ),
    controllerManager === undefined
      ? manager(
          'unread',
          'the forced detach',
          'the flags of kube-controller-manager',
          'six minutes by default; ask the vendor of a managed control plane',
        )
      : manager(
          isOff ? 'safe' : 'ask',
          'the forced detach',
          isOff ? 'is off' : 'is on, by default',
          isOff
            ? 'only the out-of-service taint skips the wait for the unmount'
            : 'six minutes after the pod object is gone',
        ),
  ];
}

const databases = /(^|\/)[^/]*(mysql|mariadb|percona|postgres)[^/]*(:|@|$)/i;
const question =
  "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'sync_binlog', 'innodb_doublewrite')";

/** Only SQL answers this, and only readers are asked. */
function databaseLines({ pods, clients }: Reading): RiskLine[] {
  const found = pods.filter(
    (pod) => hasClaim(pod) && pod.spec?.containers.some(({ image = '' }) => databases.test(image)),
  );
  const at = lineOf(5, 'images of pods');
  if (found.length === 0)
    return [at('unread', 'databases', 'none is seen by its image', 'ask yours, by SQL')];
  return found.map((pod) =>
    at(
      'unread',
      named(pod),
      'its settings take SQL',
      `kubectl --context ${clients.context} -n ${pod.metadata?.namespace} exec -it ${pod.metadata?.name} -- mysql -p -e "${question}": other values than 1, 1 and ON lose commits in a crash`,
    ),
  );
}

/** One paragraph a line. */
export function riskText({ context, kubernetes, lines, level }: RiskReport): string {
  const shown = Object.entries(checks).flatMap(([number, title]) => [
    '',
    `${number}. ${title}`,
    ...lines
      .filter(({ check }) => check === Number(number))
      .map(
        (each) =>
          `  ${each.level.padEnd(7)}  ${each.what}: ${each.found}. ${each.means}  [${each.source}]`,
      ),
  ]);
  const head = `${context}, Kubernetes ${kubernetes || 'unknown'}: ${level}`;
  return [head, ...shown, '', riskBasis].join('\n');
}

export const riskBasis =
  'Read only, from documents and settings; nothing was measured. "At risk" does not mean "lost": the outcome depends on timing.';
