/** Each right that is missing is named where it is needed, and nothing is said that is not known. */
import { expect, test } from 'vitest';
import type { FakeStorageApi } from '../../test/support/fake-storage-api.ts';
import { fakeOf, labelled, request } from '../../test/support/fake-probe.ts';
import { describeError } from '../core/errors.ts';
import {
  cleanNeeds,
  cutNeeds,
  grantedObjects,
  homeNeeds,
  longhornNeeds,
  probeAccount,
  readNeeds,
  removalNeeds,
  trialNeeds,
} from './rights.ts';
import type { Need, UserClients } from '../core/kubernetes-client.ts';
import { cleanGiven, cleanUp } from './clean.ts';
import { type CutOptions, runCut } from './cut.ts';
import { answerText } from './texts.ts';
import { runTrials } from './trials.ts';
import { dryRun, predictionFor } from './dry-run.ts';

let api: FakeStorageApi;

/** It acts on lost nodes where its setting says so. */
const longhorn = {
  metadata: { name: 'longhorn-manager-x', namespace: 'longhorn-system' },
  spec: { containers: [{ name: 'c', image: 'longhornio/longhorn-manager:v1.9.0' }] },
  status: { phase: 'Running' },
};

async function clientsWithout(forbids: string): Promise<UserClients> {
  const fake = await fakeOf({ forbids, pods: [longhorn] });
  api = fake.api;
  return fake.clients;
}

const wordsOf = (needs: readonly Need[]): string[] => [
  ...new Set(
    needs.map(({ verb, resource, subresource }) =>
      [verb, [resource, subresource].filter(Boolean).join('/')].join(' '),
    ),
  ),
];

const lies =
  /is not installed|no such node|not registered|could not be listed|has none|no StorageClass|nothing (of ours )?stays/i;

/** Named in what is said, and that alone. */
function mustName(right: string, said: string): void {
  const [verb, resource = ''] = right.split(' ');
  expect(said).toMatch(new RegExp(`${verb} ${resource.split('/')[0]}`));
  expect(said).not.toMatch(lies);
}

async function refused(right: string, work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'CLUSTER_FORBIDDEN' });
  mustName(right, describeError(error));
  expect(api.changes).toEqual([]);
}

const own = { namespace: 'n', isGiven: false };
const namespace = 'storage-team';

test.each(wordsOf([...readNeeds, ...trialNeeds(own)]))(
  'a prediction without the right to %s',
  async (right) => {
    const asked = { ...request, volumeMode: 'Filesystem' } as const;
    const answer = await predictionFor(await clientsWithout(right), asked);
    mustName(right, answerText(answer));
  },
);

/** What a volume is judged by; a class is found in a list or by itself, pods are only told of. */
const judging = ['get csidrivers', 'list csinodes', 'list nodes'];

test.each(judging)('trials and cuts without the right to %s', async (right) => {
  const clients = await clientsWithout(right);
  await refused(right, dryRun(clients, request));
  await refused(right, dryRun(clients, { ...request, nodes: undefined }));
  await refused(right, runCut(clients, cut));
});

test.each(wordsOf(readNeeds).filter((right) => !judging.includes(right)))(
  'trials can do without the right to %s',
  async (right) => {
    const said: string[] = [];
    const clients = await clientsWithout(right);
    await dryRun(clients, { ...request, say: (line) => void said.push(line) });
    // A class that is in the list need not be read by itself.
    if (right !== 'get storageclasses') mustName(right, said.join('\n'));
  },
);

test.each(wordsOf(trialNeeds(own)))('trials without the right to %s', async (right) => {
  await refused(right, runTrials(await clientsWithout(right), request));
});

const inGiven = homeNeeds({ namespace, isGiven: true });

test.each(wordsOf(inGiven))(
  'trials in a given namespace, without the right to %s',
  async (right) => {
    const clients = await clientsWithout(right);
    labelled(api, `/namespaces/${namespace}`, 'given');
    await refused(right, runTrials(clients, { ...request, namespace }));
  },
);

const cut: CutOptions = {
  ...{ ...request, volumeMode: 'Filesystem', node: 'a', confirmed: 'a', classes: ['fast'] },
  ...{ next: 'b', way: 'network', remedy: 'out-of-service', healAfterMs: 60_000 },
};

test.each(wordsOf([...cutNeeds(own, 'a', true), ...longhornNeeds]))(
  'a cut without the right to %s',
  async (right) => {
    const clients = await clientsWithout(right);
    api.add('/namespaces/longhorn-system/settings/node-down-pod-deletion-policy', {
      ...({ value: 'do-nothing' } as object),
    });
    await refused(right, runCut(clients, cut));
  },
);

test.each(wordsOf([...cleanNeeds, ...removalNeeds(own)]))(
  '--clean without the right to %s',
  async (right) => {
    const clients = await clientsWithout(right);
    const name = 'forcedetach-probe-0a1b2c3d';
    const annotations = { 'forcedetach.expires': '2020-01-01T00:00:00Z' };
    labelled(api, `/namespaces/${name}`, 'yes', annotations);
    await refused(
      right,
      cleanUp(clients, () => undefined),
    );
  },
);

const givenNeeds = [...cleanNeeds.slice(1), ...removalNeeds({ namespace, isGiven: true })];

test.each(wordsOf(givenNeeds))('--clean --namespace without the right to %s', async (right) => {
  const clients = await clientsWithout(right);
  labelled(api, `/namespaces/${namespace}`, 'given');
  await refused(right, cleanGiven(clients, namespace));
});

test('what is printed for a cut holds all that it asks for, of Longhorn too', () => {
  const granted = grantedObjects({
    ...{ home: { namespace, isGiven: true }, grantsLater: false, to: probeAccount },
    cut: { node: 'a', marks: true },
  });
  const rules = granted.flatMap((object) => (object as { rules?: object[] }).rules ?? []);
  expect(rules).toContainEqual({
    ...{ apiGroups: ['longhorn.io'], resources: ['settings'], verbs: ['get'] },
    resourceNames: ['node-down-pod-deletion-policy'],
  });
});
