/** What is said where something does not come in its time, or where the API is away for too long. */
import { afterEach, expect, test, vi } from 'vitest';
import { View } from './view.ts';
import type { UserClients } from '../user-cluster.ts';

afterEach(() => vi.restoreAllMocks());

const away = (): Promise<never> => Promise.reject(new Error('away'));
const nothing = () => Promise.resolve({ items: [] });
const clientsThat = (list: () => Promise<unknown>): UserClients =>
  ({
    context: 'k',
    core: {
      ...{ listNamespacedPod: list, listNamespacedPersistentVolumeClaim: list },
      listNamespacedEvent: list,
    },
  }) as unknown as UserClients;

function viewOf(list: () => Promise<unknown>): { view: View; over: AbortController } {
  const over = new AbortController();
  return { view: new View(clientsThat(list), 'probe', over.signal), over };
}

test('what was waited for, for how long, what was missing, and where to look', async () => {
  const { view, over } = viewOf(nothing);
  const looking = view.run();
  const waiting = view.until({ what: 'it rains', timeoutMs: 50 }, () => 'no cloud yet');
  await expect(waiting).rejects.toMatchObject({
    ...{ code: 'TRIAL_TIMED_OUT', message: 'waited 0.05 s in vain until it rains: no cloud yet' },
    command: expect.stringMatching(/get events -n probe$/),
  });
  over.abort();
  await looking;
});

test('a look that fails is none: only an API that is away for a minute ends the wait', async () => {
  let atMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => atMs);
  const { view, over } = viewOf(away);
  const looking = view.run();
  let looks = 0;
  const waiting = view.until({ what: 'it rains', timeoutMs: 600_000 }, () => {
    looks += 1;
    atMs += 25_000;
    return 'no cloud yet';
  });
  await expect(waiting).rejects.toMatchObject({
    ...{ code: 'CLUSTER_UNREACHABLE', cause: { message: 'away' } },
  });
  expect(looks).toBeGreaterThanOrEqual(3);
  over.abort();
  await looking;
  expect(clock).toHaveBeenCalled();
});
