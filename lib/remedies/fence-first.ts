/**
 * Fence first, the advice of storage vendors: the node's paths to the volume are cut at the backend,
 * the backend is asked whether they are, and only then the node is tainted out-of-service.
 */
import { EvidenceError } from '../errors.ts';
import { certify, onEach } from '../faults/fault.ts';
import { proven } from '../faults/probes.ts';
import { outOfService } from './out-of-service.ts';
import type { RemedyOf } from './remedy.ts';

const name = 'fence-first';
const claim = 'the storage says that every path of the victim is cut, before the taint is set';

export const fenceFirst: RemedyOf<'fence-first'> = {
  name,
  async apply(context) {
    const { victim, volumes } = context;
    const proofs = await onEach(volumes, async ({ disk, recorder }) => {
      const proof = await disk.fence(victim.node);
      await certify(recorder, name, 'during', [proven(claim, proof)]);
      return proof;
    });
    if (proofs.some(({ verified }) => !verified)) {
      throw new EvidenceError(
        'NOT_FENCED',
        `${victim.node} is not cut off, so it does not get the taint`,
      );
    }
    context.signal.throwIfAborted();
    await outOfService.apply(context);
    return proofs.map(({ evidence }) => evidence).join('; ');
  },
  // A fence is for ever: the node's next attachment is another path.
  undo: (context) => outOfService.undo?.(context) ?? Promise.resolve(),
};
