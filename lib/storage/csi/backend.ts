/** Attaches volumes to nodes and detaches them, on behalf of Kubernetes. */
import { status } from '@grpc/grpc-js';
import { CallError, type CallNotes } from './grpc.ts';
import type { LoopRange } from './devices.ts';
import {
  type StorageBackend,
  type CutDevice,
  livePaths,
  loopFor,
  type Target,
  cutAll,
  fence,
} from './paths.ts';
import {
  attach,
  type Attachment,
  detach,
  heldBy,
  heldElsewhere,
  isHeld,
  stillHeld,
  locked,
  neededRecord,
  readRecord,
  updateRecord,
  writeRecord,
  recordCut,
} from './record.ts';
import type { VolumeAttributes } from './requests.ts';
import {
  watchTimeoutMs,
  diskModeOf,
  isDirectory,
  type CutTime,
  type DiskModeDeclaration,
  type RefusalReason,
} from '../../scenario/index.ts';
import { describeError, outOfServiceKey } from '../../core/index.ts';
import type { PathStatus } from './array-client.ts';

/** The node's attachment: the one it holds, or a new one. */
export function attachVolume(
  backend: StorageBackend,
  loops: LoopRange,
  // `manyNodes`: the volume was declared for several nodes at once.
  request: Omit<ModeRequest, 'backend'> & { readonly manyNodes: boolean },
): Promise<Attachment> {
  const { layout } = backend;
  const { volume, node, attributes } = request;
  return locked(layout, async () => {
    const record = await neededRecord(layout, volume);
    const elsewhere = heldElsewhere(record, node);
    const mayShare = request.manyNodes || attributes.attachWhileBusy === 'granted';
    if (elsewhere !== undefined && !mayShare) {
      throw new CallError(status.FAILED_PRECONDITION, `${volume} is attached to ${elsewhere.node}`);
    }
    const held = heldBy(record, node);
    if (held !== undefined) return held;
    await decideAttach({ ...request, backend });
    const loop = await loopFor(backend, loops, record.nextGeneration);
    const attached = attach(record, { node, attributes, loop, wallMs: Date.now() });
    await writeRecord(layout, volume, attached);
    const now = heldBy(attached, node);
    if (now === undefined) throw new CallError(status.INTERNAL, 'the record contradicts itself');
    return now;
  });
}

/** Takes the volume from the node, as the volume's detach mode says. Idempotent. */
export async function detachVolume(
  backend: StorageBackend,
  request: Pick<ModeDetachRequest, 'volume' | 'node' | 'taints' | 'notes'>,
): Promise<readonly CutDevice[]> {
  const { volume, node } = request;
  const record = await readRecord(backend.layout, volume);
  const attachment = record === undefined ? undefined : heldBy(record, node);
  if (record === undefined || attachment === undefined) return [];
  const { attributes } = record;
  const devices = await decideDetach({ ...request, backend, attributes, attachment });
  await updateRecord(backend.layout, volume, (now) =>
    stillHeld(now, attachment) === undefined ? now : detach(now, node, Date.now()),
  );
  return devices;
}

/** Keys of the node's taints; none where there is no such node. Rejects where asking fails. */
export type NodeTaints = (node: string) => Promise<readonly string[]>;

interface ModeRequest extends Target {
  readonly backend: StorageBackend;
  readonly attributes: VolumeAttributes;
  /** For the call log: what was found, and so decided. */
  readonly notes: CallNotes;
}

interface ModeDetachRequest extends ModeRequest {
  /** What is to be taken from the node; a later attachment of the node is not meant. */
  readonly attachment: Attachment;
  readonly taints: NodeTaints;
}

/** Before a new attachment is recorded. */
async function decideAttach(request: ModeRequest): Promise<void> {
  const { attach } = diskModeOf[request.attributes.detachMode];
  const refusal = await refusalOf(attach, request);
  if (refusal !== undefined && request.attributes.attachWhileBusy === 'refused') throw refusal;
}

/** Before the node's path is opened. */
export async function decideStage(request: ModeRequest): Promise<void> {
  const { stage } = blockModeOf(request);
  const refusal = await refusalOf(stage, request);
  if (refusal !== undefined) throw refusal;
  if (stage?.cutsOthers === true) request.notes['preempted'] = await preempt(request);
}

/** Before the record says detached. Resolves to what it cut. */
async function decideDetach(request: ModeDetachRequest): Promise<readonly CutDevice[]> {
  const { detach } = blockModeOf(request);
  const refusal = await refusalOf(detach, request);
  if (refusal !== undefined) throw refusal;
  return detach === undefined ? [] : cuts[detach.cuts](request);
}

const refusalOf = async (
  rule: { readonly refusedWhile?: RefusalReason } | undefined,
  request: ModeRequest,
): Promise<CallError | undefined> =>
  rule?.refusedWhile === undefined ? undefined : refusals[rule.refusedWhile](request);

function blockModeOf({ attributes }: ModeRequest): DiskModeDeclaration {
  const { detachMode } = attributes;
  if (!isDirectory(detachMode)) return diskModeOf[detachMode];
  const why = 'a shared directory is never attached: its driver is files.forcedetach.dev';
  throw new CallError(status.FAILED_PRECONDITION, why);
}

/** How a detach cuts the node off. Each resolves to what is cut by now. */
const cuts: Readonly<Record<CutTime, (request: ModeDetachRequest) => Promise<CutDevice[]>>> = {
  'before-answer': ({ backend, volume, attachment, attributes: { revocation: how } }) =>
    fence(backend, { volume, attachment }, { how }),

  /** By the array, so that no death of the driver keeps the cut from coming. */
  async 'after-answer'({ backend, volume, attachment, attributes, notes }) {
    const { cutAfterMs: afterMs, revocation: how } = attributes;
    const paths = await fence(backend, { volume, attachment }, { how, afterMs });
    notes['cutAfterMs'] = afterMs;
    notes['toBeCut'] = paths.map(({ generation }) => generation);
    return [];
  },

  async 'where-out-of-service'(request) {
    const outOfService = (await taintsOf(request)).includes(outOfServiceKey);
    request.notes['outOfServiceTaint'] = outOfService;
    return outOfService ? cuts['before-answer'](request) : [];
  },
};

/** Where Kubernetes does not answer, the detach fails: nobody knows whether the node should be cut. */
async function taintsOf({ taints, node }: ModeDetachRequest): Promise<readonly string[]> {
  try {
    return await taints(node);
  } catch (error) {
    const why = describeError(error).replaceAll(/\s*\n\s*/g, '; ');
    throw new CallError(status.UNAVAILABLE, `the taints of ${node} are not known: ${why}`);
  }
}

/**
 * The others' paths are cut when a node registers, as by PREEMPT AND ABORT.
 * Of two that register at once, the first in the record wins, and the other finds itself cut. Who is
 * late, and holds the volume no more, pre-empts nobody; nor what was attached after it registered.
 */
async function preempt({
  backend,
  volume,
  node,
  attributes,
}: ModeRequest): Promise<readonly CutDevice[]> {
  const wallMs = Date.now();
  const { nextGeneration } = await updateRecord(backend.layout, volume, (now) => {
    if (heldBy(now, node)?.state !== 'attached') {
      throw new CallError(status.FAILED_PRECONDITION, `${node} has no registration of ${volume}`);
    }
    const others = now.attachments.filter((each) => isHeld(each) && each.node !== node);
    return others.reduce(
      (record, other) => recordCut(record, other.node, { cutFor: 'fence', wallMs }),
      now,
    );
  });
  const others = (await livePaths(backend.array, { volume }))
    .filter((path) => path.node !== node && path.generation < nextGeneration)
    .map(({ generation }) => generation);
  return cutAll(backend.array, volume, others, { how: attributes.revocation });
}

/** From what the array says of the paths to the volume. Each resolves to undefined where it does not hold. */
const refusals: Readonly<
  Record<RefusalReason, (request: ModeRequest) => Promise<CallError | undefined>>
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

async function whileWatched(request: ModeRequest): Promise<CallError | undefined> {
  const { backend, volume, node, notes } = request;
  const { clockNs } = await backend.array.ping();
  const paths = await backend.array.status(volume);
  const watchers = paths.filter(
    (path) => path.node !== node && (path.watches ?? watches(path, clockNs)),
  );
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
function watches({ state, cutNs, linkNs }: PathStatus, nowNs: number): boolean {
  const silentSinceNs = Math.min(cutNs ?? Infinity, linkNs ?? Infinity);
  if (silentSinceNs === Infinity) return state === 'open';
  return nowNs - silentSinceNs < watchTimeoutMs * 1e6;
}
