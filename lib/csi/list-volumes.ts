/** Volumes page by page: ListVolumes. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import type { ListVolumesRequest, ListVolumesResponseSchema } from './gen/csi_pb.js';
import { CallError } from './grpc.ts';
import { isName, type Layout } from './layout.ts';
import { readProvisioned } from './provisioned.ts';
import { readRecords } from './record-store.ts';

/** A page goes on behind the last volume of the one before, also where that is gone by now. */
const tokenPrefix = 'after:';

export async function listVolumes(
  layout: Layout,
  { startingToken, maxEntries }: Pick<ListVolumesRequest, 'startingToken' | 'maxEntries'>,
): Promise<MessageInitShape<typeof ListVolumesResponseSchema>> {
  if (maxEntries < 0) throw new CallError(status.INVALID_ARGUMENT, 'max_entries is negative');
  const after = startingToken === '' ? '' : nameIn(startingToken);
  const names = [...(await readRecords(layout)).keys()].filter((name) => name > after).toSorted();
  const shown = maxEntries === 0 ? names : names.slice(0, maxEntries);
  const entries = [];
  for (const volumeId of shown) {
    const there = await readProvisioned(layout, volumeId);
    if (there === undefined) continue;
    const volumeContext = { ...there.parameters };
    entries.push({ volume: { volumeId, capacityBytes: BigInt(there.sizeBytes), volumeContext } });
  }
  const nextToken = shown.length < names.length ? `${tokenPrefix}${shown.at(-1) ?? ''}` : '';
  return { entries, nextToken };
}

function nameIn(token: string): string {
  const name = token.startsWith(tokenPrefix) ? token.slice(tokenPrefix.length) : '';
  if (isName(name)) return name;
  throw new CallError(status.ABORTED, `${token} is no token of a list of volumes`);
}
