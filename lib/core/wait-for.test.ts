import { expect, test } from 'vitest';
import { waitFor } from './time.ts';

const what = 'it is there';

test('it looks until the state has come, past errors too', async () => {
  const answers: (() => Promise<true | string>)[] = [
    async () => 'not yet',
    async () => {
      throw new Error('connection refused');
    },
    async () => true,
  ];
  const seen = await waitFor({ what, timeoutMs: 5_000, everyMs: 1 }, () => {
    const answer = answers.shift();
    return answer === undefined ? Promise.reject(new Error('one look too many')) : answer();
  });
  expect(seen).toBe(true);
  expect(answers).toEqual([]);
});

test('a state that does not come is an error with what was seen last', async () => {
  const waiting = waitFor({ what, timeoutMs: 30, everyMs: 5 }, async () => 'pod is Pending');
  await expect(waiting).rejects.toMatchObject({
    code: 'TIMED_OUT',
    message: 'timed out after 0.03 s: waiting until it is there',
    cause: { message: 'pod is Pending' },
  });
});
