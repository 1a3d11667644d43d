/** What is said where a node, its host or the vantage point does not do as it should. */
import { afterEach, expect, test, vi } from 'vitest';
import { hostSaid, nodeIs } from './node.ts';
import type { CutContext } from './volume.ts';

afterEach(() => vi.restoreAllMocks());

/** Each look at the clock is a minute later. */
function hurry(): void {
  let atMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (atMs += 60_000));
}

function contextOf(ready: 'True' | 'False', said = ''): CutContext {
  const conditions = [{ type: 'Ready', status: ready }];
  return {
    ...{ namespace: 'probe', plan: { nodes: ['a', 'b'] }, signal: new AbortController().signal },
    clients: {
      core: {
        readNode: () => Promise.resolve({ status: { conditions } }),
        readNamespacedPodLog: () => Promise.resolve(said),
      },
    },
    view: {
      pod: () => ({ pod: { status: { phase: 'Failed' } } }),
      until: (_: object, look: () => unknown) => Promise.resolve(look()),
    },
  } as unknown as CutContext;
}

test.each([
  ['True', false, 'a is Ready still after 60 s'],
  ['False', true, 'a is not Ready again after 60 s'],
] as const)('a node that is Ready: %s, and should be: %s', async (ready, wanted, message) => {
  hurry();
  const waiting = nodeIs(contextOf(ready), wanted, 60_000);
  await expect(waiting).rejects.toMatchObject({ code: 'CUT_NODE', message });
});

test('a host that can’t be told says why, and what it needs', async () => {
  await expect(hostSaid(contextOf('True', 'lacks nft\n'), 'arm')).rejects.toMatchObject({
    ...{ code: 'CUT_HOST', message: 'arm failed on a: lacks nft' },
    hint: expect.stringContaining('systemd, nftables and iproute2'),
  });
});
