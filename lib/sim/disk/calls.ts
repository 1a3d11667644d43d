/** Calls to the disk's driver on the model: answered as they were declared, or by their work (lib/storage/csi/calls.ts). */
import { type CallName, csiCalls } from '../../core/index.ts';
import type { Absence } from '../../scenario/index.ts';
import { type NodeObject, seeCall } from '../sightings.ts';
import { msUs } from '../timings.ts';
import type { World } from '../world.ts';
import type { RefusalMessage } from './modes.ts';
import type { Volume } from './volume.ts';

type After = (delayUs: number, run: () => void) => void;

interface ModelCall {
  readonly world: World;
  readonly volume: Volume;
  readonly call: CallName;
  readonly node: NodeObject;
  readonly beganAtUs: number;
  /** Who asks gives up then; the driver does not hear of that. */
  readonly timeoutUs: number;
  /** By the process that asks, and by the driver's own. */
  readonly caller: After;
  readonly driver: After;
}

/** What the driver logs of a call that has ended. */
export type CallNotes = { readonly error?: RefusalMessage } & Readonly<Record<string, unknown>>;

/** `work` does what the call is for and ends it. `answered`: what its caller gets, once. */
export function perform(
  asked: ModelCall,
  work: (end: (notes?: CallNotes) => void) => void,
  answered: (error: RefusalMessage) => void,
): void {
  const { world, volume, call, node, beganAtUs } = asked;
  let isAwaited = true;
  const answer = (error: RefusalMessage): void => {
    if (isAwaited) answered(error);
    isAwaited = false;
  };
  const end = (notes: CallNotes = {}): void => {
    seeCall(world, volume.index, csiCalls[call], node.name, beganAtUs, notes);
    if (notes.error === undefined) volume.calls?.done(call, node.name);
    answer(notes.error);
  };
  const declared = declaredOf(asked);
  if (declared === undefined) return work(end);
  const isNever = 'refusal' in declared && declared.refusal === 'never';
  if ('refusal' in declared && !isNever)
    return end({ error: `${declared.refusal}: ${call} is refused (model)` });
  const waitUs = 'waitMs' in declared ? declared.waitMs * msUs : Number.POSITIVE_INFINITY;
  if (!isNever) asked.driver(waitUs, () => work(end));
  const leftUs = beganAtUs + asked.timeoutUs - world.kernel.nowUs;
  if (waitUs <= leftUs) return;
  asked.caller(leftUs, () => {
    if (!isAwaited) return;
    answer(`DEADLINE_EXCEEDED: no answer in ${asked.timeoutUs / 1e6} s (model)`);
    if (isNever) end({ error: `CANCELLED: ${call} was never answered (model)` });
  });
}

function declaredOf({ world, volume, call, node }: ModelCall) {
  const when = volume.calls?.rules[call]?.when;
  if (when !== undefined && !isGone[when](world, node)) return undefined;
  return volume.calls?.ask(call, node.name, world.kernel.nowUs / msUs);
}

/** The garbage collector takes the CSINode with its Node. */
const isGone: Readonly<Record<Absence, (world: World, node: NodeObject) => boolean>> = {
  'machine-gone': (world, node) => world.isOff(node),
  'node-gone': (_, { exists }) => !exists,
  'csinode-gone': (_, { exists }) => !exists,
};

/** By their codes (csi_client.go isFinalError): the work may yet be under way. */
export const isUncertain = (error: string): boolean =>
  /^(?:CANCELLED|DEADLINE_EXCEEDED|UNAVAILABLE|RESOURCE_EXHAUSTED|ABORTED)\b/.test(error);
