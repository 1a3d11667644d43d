/** Every remedy by name: what it does, and what of that would outlive the run. */
import { EvidenceError } from '../errors.ts';
import { certify } from '../faults/fault.ts';
import { proven } from '../faults/probes.ts';
import type { RemedyKind } from '../remedy-kinds.ts';
import { outOfServiceKey, outOfServiceTaint } from '../taints.ts';
import type { Remedy, RemedyContext } from './remedy.ts';

type Acts = Omit<Remedy, 'name'>;

/**
 * The out-of-service taint (KEP-2268, GA in 1.28): the operator states that the node is down. The
 * pod GC removes its Terminating pods and the attach/detach controller skips the six-minute wait.
 */
const outOfService: Acts = {
  async apply({ testbed, victim }) {
    await testbed.kubernetes.taint(victim.node, outOfServiceTaint);
    return undefined;
  },
  undo: ({ testbed, victim }) => testbed.kubernetes.untaint(victim.node, outOfServiceKey),
};

/**
 * `kubectl delete node`: its pods are orphans, which the pod GC removes after a quarantine of 40 s.
 * A kubelet makes its Node object only when it starts, so that the undo restarts it.
 */
const deleteNode: Acts = {
  async apply({ testbed, victim }) {
    await testbed.kubernetes.deleteNode(victim.node);
    return undefined;
  },
  async undo({ testbed, victim }) {
    const machine = testbed.machine(victim.node);
    if (await testbed.kubernetes.hasNode(victim.node)) return;
    // One that is down registers itself when it boots.
    if ((await machine.state()) === 'running') await machine.restartKubelet();
  },
};

/** People wait a while before they give up; drain's own default is for ever. */
const drainTimeoutMs = 60_000;

/** `kubectl drain --timeout`: cordons the node, evicts its pods, and waits for kubelets to confirm. */
const drain: Acts = {
  async apply({ testbed, victim }) {
    const { drained, answer } = await testbed.kubernetes.drain(victim.node, drainTimeoutMs);
    return `${drained ? 'drained' : 'not drained'}: ${answer}`;
  },
  undo: ({ testbed, victim }) => testbed.kubernetes.uncordon(victim.node),
};

/**
 * Fence first, the advice of storage vendors: the node's paths to the volume are cut at the backend,
 * the backend is asked whether they are, and only then the node is tainted out-of-service.
 */
async function fenceFirst(context: RemedyContext): Promise<string> {
  const { testbed, recorder, victim, signal } = context;
  const claim = 'the storage says that every path of the victim is cut, before the taint is set';
  const proof = await testbed.disk.fence(victim.node);
  await certify(recorder, 'fence-first', 'during', [proven(claim, proof)]);
  if (!proof.verified) {
    throw new EvidenceError('NOT_FENCED', `${victim.node} is not cut off, so it is not tainted`);
  }
  signal.throwIfAborted();
  await outOfService.apply(context);
  return proof.evidence;
}

/**
 * The victim's VolumeAttachment deleted by hand. The attacher still asks the storage to detach; the
 * attach/detach controller asks nobody, and finds within a minute that it is gone. With its finalizer
 * stripped before the attacher has seen the deletion, nobody asks the storage either.
 */
const attachmentRemedy = (stripFinalizers: boolean): Acts => ({
  async apply({ testbed, victim }) {
    const names = await testbed.kubernetes.deleteAttachments(victim.node, { stripFinalizers });
    return names.length === 0 ? `${victim.node} had no VolumeAttachment` : names.join(', ');
  },
});

const acts: Readonly<Record<RemedyKind, Acts>> = {
  /** What Kubernetes does by itself. */
  none: { apply: () => Promise.resolve(undefined) },
  /** `kubectl delete pod --force --grace-period=0`, the pod object gone unconfirmed. */
  'force-delete': {
    async apply({ testbed, victim }) {
      await testbed.kubernetes.forceDelete(victim);
      return undefined;
    },
  },
  'out-of-service': outOfService,
  'delete-node': deleteNode,
  drain,
  /** A plain `kubectl delete pod`: the object stays until its kubelet confirms that it has stopped. */
  delete: {
    async apply({ testbed, victim }) {
      await testbed.kubernetes.deletePod(victim);
      return undefined;
    },
  },
  // A fence is for ever: the node's next attachment is another path.
  'fence-first': { ...outOfService, apply: fenceFirst },
  'delete-attachment': attachmentRemedy(false),
  'strip-attachment-finalizer': attachmentRemedy(true),
  /**
   * Force-deleted, then its finalizers taken away: what people do when a force delete seems to hang.
   * Without the force delete the API server would go on waiting for the kubelet.
   */
  'strip-pod-finalizer': {
    async apply({ testbed, victim }) {
      await testbed.kubernetes.forceDelete(victim);
      await testbed.kubernetes.stripPodFinalizers(victim);
      return undefined;
    },
  },
};

export const remedyOf = (name: RemedyKind): Remedy => ({ name, ...acts[name] });
