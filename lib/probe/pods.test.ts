/** What is said where a pod does not start or can't write, where something stays or does not come in its time. */
import { afterEach, expect, test, vi } from 'vitest';
import { emptyHome, untilGone } from './home.ts';
import { type PodsContext, VolumePods } from './pods.ts';
import { trialPlanOf } from './plan.ts';
import type { UserClients } from '../core/kubernetes-client.ts';
import { View } from './view.ts';

afterEach(() => vi.restoreAllMocks());

const plan = trialPlanOf({
  ...{ storageClass: 'fast', nodes: ['a', 'b'], trials: 1, volumeMode: 'Filesystem' },
  ...{ size: '1Gi', horizonMs: 7000, image: 'node:24' },
});
const waiting = { reason: 'ErrImagePull', message: 'no such image' };
const context = {
  signal: new AbortController().signal,
  view: {
    pod: () => ({
      seen: {},
      pod: { status: { containerStatuses: [{ state: { waiting } }] } },
    }),
    until: (_: object, look: () => unknown) => Promise.resolve().then(look),
  },
} as unknown as PodsContext;
const podsOf = (line: string): VolumePods => {
  const trial = { name: 'kept-1', variant: 'kept' } as const;
  const pods = new VolumePods(context, { namespace: 'probe', plan, program: '' }, trial);
  return Object.assign(pods, { linesOf: () => [{ line, atMs: 0 }] });
};

test('a pod whose image cannot be had: which, why, and the flag', async () => {
  await expect(podsOf('').running('writer', 1)).rejects.toMatchObject({
    ...{ code: 'PROBE_POD', hint: expect.stringContaining('--image') },
    message: 'the pod kept-1-a does not start: ErrImagePull: no such image',
  });
});

test('a volume that is too small for the slots of its writer: the flag', async () => {
  const steady = podsOf('1 fail 5 ENOSPC').steady(() => false, 'it writes');
  await expect(steady).rejects.toMatchObject({
    ...{ code: 'PROBE_WRITER', message: 'the writer reports 1 fail 5 ENOSPC' },
    hint: expect.stringContaining('--size'),
  });
});

const clients = {
  context: 'k',
  core: {
    readNamespace: ({ name }: { name: string }) => Promise.resolve({ metadata: { name } }),
  },
} as unknown as UserClients;

test.each([
  ['the namespace probe is Terminating', 'get all,pvc,events -n probe'],
  ['the volume pv-1 is Released', 'describe pv pv-1'],
])('what is not gone in three minutes is named, and where to look: %s', async (left, look) => {
  let atMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (atMs += 100_000));
  await expect(untilGone(clients, 'probe', () => Promise.resolve([left]))).rejects.toMatchObject({
    ...{ code: 'PROBE_STAYS', message: `after 180 s: ${left}` },
    command: expect.stringMatching(new RegExp(`${look}$`)),
  });
});

test('a namespace without the label of a probe is nobody’s to remove', async () => {
  await expect(emptyHome(clients, { namespace: 'theirs', isGiven: false })).rejects.toMatchObject({
    ...{ code: 'NOT_OURS', message: 'the namespace theirs has no label of a probe' },
  });
});

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
