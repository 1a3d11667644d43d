/** What is said where a node, its host or the vantage point does not do as it should. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type CutContext, type CutDraft, arm, healed } from './cut.ts';
import { Vantage, nodeIs, onHost } from './node.ts';

afterEach(() => vi.restoreAllMocks());

/** Each look at the clock is a minute later. */
function hurry(): void {
  let atMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (atMs += 60_000));
}

/** `state`: of a pod's container. */
function contextOf(
  ready: 'True' | 'False',
  said = '',
  phase = 'Failed',
  state?: object,
): CutContext {
  const containerStatuses = state === undefined ? [] : [{ state }];
  const seen = state === undefined ? { runningMs: 0 } : {};
  const conditions = [{ type: 'Ready', status: ready }];
  return {
    ...{ namespace: 'probe', run: 'forcedetach-probe-0', signal: new AbortController().signal },
    plan: { nodes: ['a', 'b'], way: 'network', healAfterMs: 0 },
    say: () => undefined,
    clients: {
      context: 'k',
      core: {
        readNode: () => Promise.resolve({ status: { conditions } }),
        readNamespacedPodLog: () => Promise.resolve(said),
        createNamespacedPod: () => Promise.resolve(),
      },
    },
    view: {
      pod: () => ({ pod: { status: { phase, containerStatuses } }, seen }),
      eventsOf: () => [],
      until: (_: object, look: () => unknown) => Promise.resolve().then(look),
    },
  } as unknown as CutContext;
}

test.each([
  ['True', false, 'a is Ready still after 60 s'],
  ['False', true, 'a is not Ready again after 60 s'],
] as const)('a node that is Ready: %s, and should be: %s', async (ready, wanted, message) => {
  hurry();
  const waiting = nodeIs(contextOf(ready), wanted, 60_000);
  await expect(waiting).rejects.toMatchObject({
    ...{ code: 'CUT_NODE', message, hint: expect.stringMatching(wanted ? /kubelet/ : /API/) },
    command: 'kubectl --context k describe node a',
  });
});

test('a host that can’t be told says why, and what it needs', async () => {
  await expect(onHost(contextOf('True', 'lacks nft\n'), 'arm', 'false')).rejects.toMatchObject({
    ...{ code: 'CUT_HOST', message: 'arm failed on a: lacks nft' },
    hint: expect.stringContaining('systemd, nftables and iproute2'),
  });
});

const noImage = { waiting: { reason: 'ErrImagePull', message: 'no such image' } };
const noProgram = {
  terminated: { exitCode: 128, reason: 'StartError', message: 'exec: "nsenter": not found' },
};

test.each([
  ['no image', 'Pending', noImage, 'ErrImagePull: no such image'],
  ['no nsenter in it', 'Failed', noProgram, 'StartError: exec: "nsenter": not found'],
])('a pod with %s is not waited for: why, and the flag', async (_, phase, state, why) => {
  const told = { code: 'PROBE_POD', hint: expect.stringMatching(/--image.*nsenter/) };
  const context = contextOf('True', '', phase, state);
  await expect(onHost(context, 'arm', 'true')).rejects.toMatchObject({
    ...{ ...told, message: `the pod arm does not start: ${why}` },
  });
  await expect(Vantage.start(context)).rejects.toMatchObject({
    ...{ ...told, message: `the pod vantage does not start: ${why}` },
  });
});

test('nothing is armed where somebody has come whom a cut would harm', async () => {
  const { clients, ...context } = contextOf('True', 'armed', 'Succeeded');
  const made = vi.spyOn(clients.core, 'createNamespacedPod');
  const came = () => Promise.reject(new Error('somebody came'));
  await expect(arm({ ...context, clients }, came, 'arm', 60_000)).rejects.toThrow('somebody came');
  expect(made).not.toHaveBeenCalled();
  await arm({ ...context, clients }, () => Promise.resolve(), 'arm', 60_000);
  expect(made).toHaveBeenCalledOnce();
});

test.each<[string, object, ...Parameters<typeof contextOf>]>([
  ['Ready, and its host says so', { healedBootId: '0a1b-2c' }, 'True', 'boot 0a1b-2c\nhealed\n'],
  ['its host does not say which boot it is', {}, 'True', 'healed'],
])('a node is healed: %s', async (_, boot, ready, said) => {
  const record: CutDraft = { armedMs: 0, checked: false, looks: [], volumes: [] };
  await healed(contextOf(ready, said, 'Succeeded'), record);
  expect(record).toMatchObject({ checked: true, ...boot });
  expect('healedBootId' in record).toBe('healedBootId' in boot);
});

test.each<[object, ...Parameters<typeof contextOf>]>([
  [{ code: 'CUT_NODE' }, 'False'],
  [
    { code: 'CUT_HOST', message: 'check failed on a: the table is there' },
    'True',
    'the table is there',
  ],
])('a node that is not healed: the command for its console, and why: %o', async (cause, ...of) => {
  hurry();
  const record: CutDraft = { armedMs: 0, checked: false, looks: [], volumes: [] };
  await expect(healed(contextOf(...of), record)).rejects.toMatchObject({
    ...{ code: 'CUT_NOT_HEALED', message: 'a is not proven to be healed', cause },
    command: 'nft delete table inet forcedetach_probe_0 2>/dev/null || true',
  });
});

/** What the second node's vantage pod says once; then it says nothing. */
async function seenBy(
  words: readonly string[],
  look: (vantage: Vantage) => Promise<unknown>,
): Promise<unknown> {
  const server = createServer((_, response) => {
    response.write(words.map((word, index) => `${index + 1} ${word} ${index}\n`).join(''));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const over = new AbortController();
  const { clients, ...context } = contextOf('True');
  const config = {
    getCurrentCluster: () => ({ server: url }),
    applyToHTTPSOptions: () => Promise.resolve(),
  };
  const vantage = await Vantage.start({
    ...{ ...context, signal: over.signal, clients: { ...clients, config } },
  } as unknown as CutContext);
  return look(vantage).finally(() => {
    over.abort();
    server.closeAllConnections();
    server.close();
  });
}
const patience = 300;

test.each([
  ['down', ['up', 'up'], 'cut off'],
  ['up', ['up', 'down'], 'reachable again'],
] as const)('a second node that never sees it %s says so', async (word, words, what) => {
  const looking = seenBy(words, (vantage) => {
    // What was seen before does not count.
    const sinceMs = performance.timeOrigin + performance.now() + 1;
    return vantage.until(word, sinceMs, patience);
  });
  await expect(looking).rejects.toMatchObject({
    message: `the second node did not observe the first one ${what} within 0.3 s`,
    ...{ code: 'CUT_NOT_SEEN', hint: expect.stringContaining('pods may start too slowly') },
  });
});

test('one that sees it says when', async () => {
  const looking = seenBy(['up', 'down'], (vantage) => vantage.until('down', 0, patience));
  expect(await looking).toBeGreaterThan(0);
});
