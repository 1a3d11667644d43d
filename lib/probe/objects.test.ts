/** What is made of a plan, and what a plan of a cut says. */
import { expect, test } from 'vitest';
import { currentOwner, encodeOwner } from '../core/owner.ts';
import {
  type ObjectTemplate,
  attachmentName,
  claimObject,
  podObject,
  programOf,
} from './objects.ts';
import {
  type CutRemedy,
  cutPlanLines,
  cutPlanOf,
  cutRemedies,
  planHash,
  trialPlanOf,
  usualHealMs,
} from './plan.ts';
import { whyKept } from './home.ts';

const plan = trialPlanOf({
  ...{ storageClass: 'c', nodes: ['a', 'b'], trials: 1, volumeMode: 'Block' },
  ...{ size: '1Gi', horizonMs: 100_000, image: 'node:24' },
});
const template: ObjectTemplate = { namespace: 'n', plan, program: 'x' };
const trial = { name: 'kept-1', variant: 'kept' } as const;

test('an attachment has the name that Kubernetes gives it', () => {
  // printf 'handledrivernode' | sha256sum
  expect(attachmentName('handle', 'driver', 'node')).toBe(
    'csi-fdef298eb16db6fa42906ef1ff09a93a7f3028f8290cc9d71628ff91c237bfa7',
  );
});

test('a pod runs on its node only, without rights, with the volume as the plan has it', () => {
  const pod = podObject(template, trial, 'next');
  expect(JSON.stringify(pod.spec?.affinity)).toContain('"values":["b"]');
  expect(pod.spec?.containers[0]).toMatchObject({
    image: 'node:24',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeDevices: [{ devicePath: '/dev/probe' }],
  });
  const files = { ...template, plan: { ...plan, volumeMode: 'Filesystem' as const } };
  expect(podObject(files, trial, 'writer').spec?.containers[0]?.volumeMounts).toHaveLength(1);
  const owned = claimObject({ ...template, owner: '1 2 3 4 5' }, trial);
  expect(owned.metadata?.annotations).toEqual({
    'forcedetach.owner': '1 2 3 4 5',
    'volume.kubernetes.io/selected-node': 'a',
  });
  expect(claimObject(files, trial).spec).toMatchObject({ volumeMode: 'Filesystem' });
});

test('both pods of a trial know its slots alike', () => {
  const contested = { name: 'contested-1', variant: 'contested' } as const;
  const [a, b] = (['writer', 'next'] as const).map((role) => programOf(template, contested, role));
  expect([a?.slots, a?.token]).toEqual([b?.slots, b?.token]);
  expect(programOf(template, trial, 'writer').token).not.toBe(a?.token);
});

test('a namespace of another machine’s probe stays until its time is over, one of a living probe always', () => {
  const space = (annotations: Record<string, string>) => ({ metadata: { annotations } });
  const expires = '2026-01-01T00:00:00.000Z';
  const before = Date.parse(expires) - 1;
  const foreign = { 'forcedetach.expires': expires, 'forcedetach.owner': '1 2 boot 4 elsewhere' };
  expect(whyKept(space(foreign), before)).toMatch(/another machine until 2026/);
  expect(whyKept(space(foreign), before + 1)).toBeUndefined();
  expect(whyKept(space({}), before)).toMatch(/another machine/);
  const owner = currentOwner();
  const own = (of: typeof owner) => ({
    'forcedetach.expires': expires,
    'forcedetach.owner': encodeOwner(of),
  });
  expect(whyKept(space(own(owner)), before + 1)).toBe('its probe runs');
  expect(whyKept(space(own({ ...owner, startTicks: '1' })), before)).toBeUndefined();
});

const planWith = (remedy: CutRemedy, healAfterMs = usualHealMs(remedy)) =>
  cutPlanOf({
    ...{ classes: ['fast'], nodes: ['a', 'b'], way: 'network', remedy, healAfterMs },
    ...{ size: '1Gi', image: 'node:24', volumeMode: 'Filesystem' },
  });

test('an eviction takes longer, and a heal that comes before it is told', () => {
  expect(usualHealMs('eviction')).toBe(900_000);
  const early = cutPlanLines(planWith('eviction', 600_000)).join('\n');
  expect(early).toContain('twelve minutes in all. With stock timers the heal comes earlier');
});

test('each remedy is a plan of its own', () => {
  expect(new Set(cutRemedies.map((remedy) => planHash(planWith(remedy, 600_000)))).size).toBe(3);
});
