/** What remedies do, through the ports of a cluster. */
import {
  type Capability,
  EvidenceError,
  outOfServiceKey,
  outOfServiceTaint,
} from '../../core/index.ts';
import { drainMs, type RemedyAct } from '../../scenario/index.ts';
import { certify, onEach } from '../faults/fault.ts';
import { proven } from '../faults/probes.ts';
import type { RemedyContext } from './remedy.ts';

/** Resolves to what came of it, where that is worth a line in the history. */
type Act = (context: RemedyContext<Capability>) => Promise<string | void>;

const deleteAttachments =
  (stripFinalizers: boolean): Act =>
  async ({ victim, volumes }) => {
    const names: string[] = [];
    for (const { pods } of volumes) {
      names.push(...(await pods.deleteAttachments(victim.node, { stripFinalizers })));
    }
    return names.length === 0 ? `${victim.node} had no VolumeAttachment` : names.join(', ');
  };

const fenced = 'the storage says that every path of the victim is cut, before the taint is set';

export const acts: Readonly<Record<RemedyAct, Act>> = {
  async 'delete pod'({ volumes }) {
    for (const { pods, pod } of volumes) await pods.deletePod(pod);
  },
  async 'force-delete pod'({ volumes }) {
    for (const { pods, pod } of volumes) await pods.forceDelete(pod);
  },
  async 'strip pod finalizers'({ volumes }) {
    for (const { pods, pod } of volumes) await pods.stripPodFinalizers(pod);
  },
  'taint out-of-service': ({ testbed, victim }) =>
    testbed.kubernetes.taint(victim.node, outOfServiceTaint),
  untaint: ({ testbed, victim }) => testbed.kubernetes.untaint(victim.node, outOfServiceKey),
  async 'cut paths'({ name, victim, volumes }) {
    const proofs = await onEach(volumes, async ({ disk, recorder }) => {
      const proof = await disk.fence(victim.node);
      await certify(recorder, name, 'during', [proven(fenced, proof)]);
      return proof;
    });
    if (proofs.some(({ verified }) => !verified)) {
      throw new EvidenceError(
        'NOT_FENCED',
        `${victim.node} is not cut off, so it does not get the taint`,
      );
    }
    return proofs.map(({ evidence }) => evidence).join('; ');
  },
  'delete node': ({ testbed, victim }) => testbed.kubernetes.deleteNode(victim.node),
  async 'register node'({ testbed, victim }) {
    const machine = testbed.machine(victim.node);
    if (await testbed.kubernetes.hasNode(victim.node)) return;
    // One that is down registers itself when it boots.
    if ((await machine.state()) === 'running') await machine.restartKubelet();
  },
  async drain({ testbed, victim }) {
    const { drained, answer } = await testbed.kubernetes.drain(victim.node, drainMs);
    return `${drained ? 'drained' : 'not drained'}: ${answer}`;
  },
  uncordon: ({ testbed, victim }) => testbed.kubernetes.uncordon(victim.node),
  'delete attachments': deleteAttachments(false),
  'strip attachments': deleteAttachments(true),
};
