import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { answerDetach, type DetachAnswer } from './lies.ts';

/** Whether it detached, and what it said. */
async function told(answer: DetachAnswer): Promise<{ detached: boolean; said: unknown }> {
  let detached = false;
  const detach = (): Promise<void> => {
    detached = true;
    return Promise.resolve();
  };
  const said = await Promise.race([
    answerDetach(answer, detach).then(
      () => 'done',
      (error: unknown) => error,
    ),
    new Promise((resolve) => setImmediate(resolve, 'nothing')),
  ]);
  return { detached, said };
}

test.each([
  ['honest', true, 'done'],
  ['error', true, expect.objectContaining({ code: status.INTERNAL })],
  ['forgets', false, 'done'],
  ['never', false, 'nothing'],
] as const)('%s: detached is %s', async (answer, detached, said) => {
  expect(await told(answer)).toEqual({ detached, said });
});
