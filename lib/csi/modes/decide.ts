/** Carries out what the volume's mode of disk decides (lib/disk-modes). Each throws a CallError where it refuses. */
import { status } from '@grpc/grpc-js';
import { diskModeOf } from '../../disk-modes/index.ts';
import type { DiskModeDeclaration, Refusal } from '../../disk-modes/mode.ts';
import { CallError } from '../grpc.ts';
import type { CutDevice } from '../paths.ts';
import { cuts } from './cuts.ts';
import { preempt } from './preempt.ts';
import { refusals } from './refusals.ts';
import type { DetachRequest, ModeRequest } from './request.ts';

/** Before a new attachment is recorded. */
export async function decideAttach(request: ModeRequest): Promise<void> {
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
export async function decideDetach(request: DetachRequest): Promise<readonly CutDevice[]> {
  const { detach } = blockModeOf(request);
  const refusal = await refusalOf(detach, request);
  if (refusal !== undefined) throw refusal;
  return detach === undefined ? [] : cuts[detach.cuts](request);
}

const refusalOf = async (
  rule: { readonly refusedWhile?: Refusal } | undefined,
  request: ModeRequest,
): Promise<CallError | undefined> =>
  rule?.refusedWhile === undefined ? undefined : refusals[rule.refusedWhile](request);

function blockModeOf({ attributes }: ModeRequest): DiskModeDeclaration {
  const mode = diskModeOf[attributes.detachMode];
  if (mode.isDirectory !== true) return mode;
  const why = 'a shared directory is never attached: its driver is files.forcedetach.dev';
  throw new CallError(status.FAILED_PRECONDITION, why);
}
