/**
 * What not every cluster can do. Who needs something of it says so where it is declared; a backend says what it
 * has before one is opened, so that a scenario which needs more is refused when it is read.
 */
import { InfrastructureError } from './errors.ts';

/** Ports whose verbs may be absent; `pods` are the part of Kubernetes that is about one volume. */
type PortName = 'testbed' | 'machine' | 'controlPlane' | 'kubernetes' | 'pods' | 'disk' | 'backend';

interface CapabilityDeclaration extends Partial<Record<PortName, readonly string[]>> {
  /** Ends a sentence about a cluster that has it: `it can …`. Beside it, by their port: its verbs, optional there. */
  readonly can: string;
}

export const capabilities = {
  'node-freeze': { can: 'hold all processes of a node', machine: ['freeze', 'thaw'] },
  'node-power': { can: 'kill a node and boot it', machine: ['kill', 'start'] },
  'node-shutdown': { can: 'shut a node down in order', machine: ['shutDown', 'hangInShutdown'] },
  'node-network': { can: 'take a node off the network', machine: ['disconnect', 'reconnect'] },
  'node-isolation': { can: 'cut a node off its API server', machine: ['isolate', 'rejoin'] },
  'agent-stall': { can: 'hold kubelet and containerd', machine: ['stall', 'resume'] },
  'kubelet-restart': { can: 'restart a kubelet', machine: ['restartKubelet'] },
  'server-kill': { can: 'kill the database’s process', machine: ['killServer'] },
  'cpu-limit': { can: 'starve a node', machine: ['throttle', 'unthrottle', 'throttled'] },
  'node-clock': { can: 'set the clock of a node', machine: ['setClockBack', 'clockBackMs'] },
  'component-kill': { can: 'kill a part of the control plane', controlPlane: ['kill', 'look'] },
  'component-stall': {
    can: 'hold a part of the control plane',
    controlPlane: ['stall', 'resume', 'look'],
  },
  'standby-manager': {
    can: 'let a standby controller manager take over',
    controlPlane: ['failOver', 'look'],
  },
  drain: { can: 'drain a node', kubernetes: ['drain', 'uncordon'] },
  'node-taint': { can: 'taint a node', kubernetes: ['taint', 'untaint'] },
  'node-deletion': { can: 'delete a Node object', kubernetes: ['deleteNode', 'hasNode'] },
  'lease-annotation': {
    can: 'write to the Lease of a node',
    kubernetes: ['annotateLease', 'leaseAnnotation'],
  },
  'admission-policy': { can: 'enforce an admission policy', kubernetes: ['stateFenced'] },
  rollout: { can: 'roll a workload out again', pods: ['restartRollout'] },
  'attachment-deletion': { can: 'delete VolumeAttachments', pods: ['deleteAttachments'] },
  fence: { can: 'cut a node off the storage for good', disk: ['fence'] },
  'storage-link': { can: 'break a node’s way to the storage', disk: ['sever', 'restore'] },
  'storage-network': { can: 'put a storage network between a node and its disk' },
  'power-loss': {
    can: 'lose what a node had not flushed',
    disk: ['losePower', 'releaseDead', 'writeSyncedCanary'],
  },
  'failing-calls': { can: 'let calls to a disk’s driver fail', disk: ['answerCalls'] },
  'node-shell': { can: 'run commands on a node', testbed: ['shell'] },
  'replication-group': { can: 'play a replication group', backend: ['openGroup'] },
  'write-log': { can: 'keep the data of each write' },
  'own-database': { can: 'play a database from outside' },
  provisioner: { can: 'have a provisioner make the volume' },
  'any-gate': { can: 'set feature gates that the model does not know' },
  'force-detach-wait': {
    can: 'change the forced-detach wait, which is compiled into published images (--images built)',
  },
} as const satisfies Readonly<Record<string, CapabilityDeclaration>>;

export type Capability = keyof typeof capabilities;
export const capabilityNames = Object.keys(capabilities) as readonly Capability[];

/** All but these. */
export const capabilitiesBut = <const C extends Capability>(
  lacking: readonly C[],
): readonly Exclude<Capability, C>[] =>
  capabilityNames.filter(
    (each): each is Exclude<Capability, C> => !lacking.some((one) => one === each),
  );

type VerbsOf<C extends Capability, Port extends PortName> = {
  [Name in C]: (typeof capabilities)[Name] extends Readonly<Record<Port, readonly (infer Verb)[]>>
    ? Verb
    : never;
}[C];

/** A port with the verbs of these capabilities; all others stay optional. */
export type Able<T, Port extends PortName, C extends Capability> = T &
  Required<Pick<T, Extract<VerbsOf<C, Port>, keyof T>>>;

/**
 * The same port, known to have what was asked for. Throws InfrastructureError `CAPABILITY_UNTRUE` where
 * its backend says that it has this and lacks the verb: what is not said to be there was refused before.
 */
export function able<T extends object, Port extends PortName, C extends Capability>(
  port: T,
  name: Port,
  needs: readonly C[],
): Able<T, Port, C> {
  const lacking = needs.flatMap((need) => {
    const declared: CapabilityDeclaration = capabilities[need];
    return (declared[name] ?? []).filter((verb) => Reflect.get(port, verb) === undefined);
  });
  if (lacking.length === 0) return port as Able<T, Port, C>;
  throw new InfrastructureError(
    'CAPABILITY_UNTRUE',
    `this cluster’s ${name} cannot ${lacking.join(', ')}`,
    { hint: 'its backend declares a capability that it lacks: correct the list' },
  );
}
