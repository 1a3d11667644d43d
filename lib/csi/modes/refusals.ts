/** Why a mode of disk refuses, from what the array says of the paths to the volume. */
import { status } from '@grpc/grpc-js';
import { watchTimeoutMs, type Refusal } from '../../disk-modes/mode.ts';
import type { PathStatus } from '../array-port.ts';
import { CallError } from '../grpc.ts';
import { livePaths } from '../paths.ts';
import { neededRecord } from '../record-store.ts';
import type { ModeRequest } from './request.ts';

/** Each resolves to the refusal; undefined where it does not hold. */
export const refusals: Readonly<
  Record<Refusal, (request: ModeRequest) => Promise<CallError | undefined>>
> = {
  'node-has-it-mounted': (request) => whileMounted(request, (node) => node === request.node),
  'other-has-it-mounted': (request) => whileMounted(request, (node) => node !== request.node),
  'other-watches': (request) =>
    request.attributes.watcherCheck === 'missing' ? unlessNew(request) : whileWatched(request),
};

async function whileMounted(
  { backend, volume, notes }: ModeRequest,
  isMeant: (node: string) => boolean,
): Promise<CallError | undefined> {
  const paths = await livePaths(backend.array, { volume });
  const busy = paths
    .filter(({ node, claimed }) => claimed && isMeant(node))
    .map(({ node, device }) => `${device} on ${node}`);
  notes['busy'] = busy;
  if (busy.length === 0) return undefined;
  return new CallError(status.FAILED_PRECONDITION, `${volume} is in use: ${busy.join(', ')}`);
}

async function whileWatched({
  backend,
  volume,
  node,
  notes,
}: ModeRequest): Promise<CallError | undefined> {
  const { clockNs } = await backend.array.ping();
  const paths = await backend.array.status(volume);
  const watchers = paths.filter((path) => path.node !== node && watches(path, clockNs));
  notes['watchers'] = watchers.map((path) => `${path.node}/${path.generation}`);
  if (watchers.length === 0) return undefined;
  const nodes = [...new Set(watchers.map((path) => path.node))].join(', ');
  return new CallError(status.INTERNAL, `image ${volume} is still being used by ${nodes}`);
}

/** Nobody answers: only an image that no other node ever had is known to be unwatched. */
async function unlessNew({ backend, volume, node }: ModeRequest): Promise<CallError | undefined> {
  const { attachments } = await neededRecord(backend.layout, volume);
  if (attachments.every((each) => each.node === node)) return undefined;
  return new CallError(status.INTERNAL, `whether ${volume} is watched is not known: no answer`);
}

/** A clean close ends a watch at once; a cut or a link that went away only lets it run out. */
export function watches({ state, cutNs, linkNs }: PathStatus, nowNs: number): boolean {
  const silentSinceNs = Math.min(cutNs ?? Infinity, linkNs ?? Infinity);
  if (silentSinceNs === Infinity) return state === 'open';
  return nowNs - silentSinceNs < watchTimeoutMs * 1e6;
}
