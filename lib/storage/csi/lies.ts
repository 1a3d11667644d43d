/**
 * Drivers that answer something else than they do, or nothing: what a probe of other people's drivers
 * must not be taken in by. The mode of the disk stays what it is; only the answer to a call is false.
 */
import { status } from '@grpc/grpc-js';
import { CallError } from './grpc.ts';

export const detachAnswers = [
  'honest',
  /** It detaches, and answers that it could not; each time it is asked. */
  'error',
  /** It answers that it did, and does and records nothing. */
  'forgets',
  /** It does nothing, and never answers. */
  'never',
] as const;
export type DetachAnswer = (typeof detachAnswers)[number];

export const stageAnswers = ['honest', 'never'] as const;

/** Does the detach and answers it, or not, as the driver would. */
export async function answerDetach(
  answer: DetachAnswer,
  detach: () => Promise<void>,
): Promise<void> {
  if (answer === 'never') await never();
  if (answer === 'forgets') return;
  await detach();
  if (answer === 'error') throw new CallError(status.INTERNAL, 'the backend did not detach it');
}

/** Who asks gives up; what waits here goes with the process. */
export const never = (): Promise<never> => new Promise(() => undefined);
