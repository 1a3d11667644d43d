/** The others' paths are cut when a node registers, as by PREEMPT AND ABORT. */
import { status } from '@grpc/grpc-js';
import { CallError } from '../grpc.ts';
import { cutAll, type CutDevice, livePaths } from '../paths.ts';
import { cut, heldBy, isHeld } from '../record.ts';
import { updateRecord } from '../record-store.ts';
import type { ModeRequest } from './request.ts';

/**
 * Of two that register at once, the first in the record wins, and the other finds itself cut. Who is
 * late, and holds the volume no more, pre-empts nobody; nor what was attached after it registered.
 */
export async function preempt({
  backend,
  volume,
  node,
}: ModeRequest): Promise<readonly CutDevice[]> {
  const wallMs = Date.now();
  const { nextGeneration } = await updateRecord(backend.layout, volume, (now) => {
    if (heldBy(now, node)?.state !== 'attached') {
      throw new CallError(status.FAILED_PRECONDITION, `${node} has no registration of ${volume}`);
    }
    const others = now.attachments.filter((each) => isHeld(each) && each.node !== node);
    return others.reduce(
      (record, other) => cut(record, other.node, { cutFor: 'fence', wallMs }),
      now,
    );
  });
  const paths = await livePaths(backend.array, { volume });
  const others = paths.filter((path) => path.node !== node && path.generation < nextGeneration);
  return cutAll(
    backend.array,
    volume,
    others.map(({ generation }) => generation),
  );
}
