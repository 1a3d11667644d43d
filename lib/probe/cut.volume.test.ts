/** A volume under a cut whose writer never starts, or that the next pod never has: both are told, not thrown. */
import { expect, test } from 'vitest';
import { InfrastructureError } from '../core/errors.ts';
import { type CutContext, VolumeUnderCut, startWriters, templateOf } from './cut.ts';
import { podObject } from './objects.ts';
import { cutPlanOf } from './plan.ts';

const plan = cutPlanOf({
  ...{ classes: ['fast'], nodes: ['a', 'b'], way: 'network', remedy: 'force-delete' },
  ...{ healAfterMs: 60_000, size: '1Gi', image: 'node:24', volumeMode: 'Filesystem' },
});
const trial = { name: 'cut-1', variant: 'contested' } as const;

test.each([
  ['force-delete', [2, 2]],
  ['eviction', [0, 2]],
] as const)('%s: the writer’s grace period, and the next pod’s', (remedy, seconds) => {
  const template = templateOf({ namespace: 'probe', plan: { ...plan, remedy } }, 'fast');
  const pods = (['writer', 'next'] as const).map((role) => podObject(template, trial, role));
  expect(pods.map(({ spec }) => spec?.terminationGracePeriodSeconds)).toEqual(seconds);
  expect(template.plan.writeEveryMs).toBe(plan.writeEveryMs);
});

const refused = new InfrastructureError('TRIAL_TIMED_OUT', 'waited in vain');

function volumeOf(signal: AbortSignal, runningMs?: number): VolumeUnderCut {
  const seen = { node: 'b', createdMs: 0, runningMs };
  const context = {
    ...{ namespace: 'probe', run: 'forcedetach-probe-0a1b2c3d', plan, signal },
    say: () => undefined,
    clients: {
      core: { createNamespacedPersistentVolumeClaim: () => Promise.reject(refused) },
    },
    view: {
      pod: () => (runningMs === undefined ? undefined : { pod: {}, seen }),
      ...{ eventsOf: () => [], events: [] },
      until: (_: object, look: () => unknown) =>
        look() === true ? Promise.resolve(true) : Promise.reject(refused),
    },
  } as unknown as CutContext;
  return new VolumeUnderCut(context, { name: 'cut-1', storageClass: 'fast' });
}

const going = new AbortController().signal;
const given = AbortSignal.abort(new Error('given up'));

test('a class whose writer never starts ends with the reason, and leaves the others their cut', async () => {
  const volume = volumeOf(going);
  await volume.start();
  expect(volume.record.ended).toBe('TRIAL_TIMED_OUT: waited in vain');
  expect(volume.recorded([], 1)).toMatchObject({ ended: volume.record.ended, attachments: [] });
});

test('where no class has a writer nothing is cut', async () => {
  const said: string[] = [];
  const starting = startWriters([volumeOf(going)], (line) => said.push(line));
  await expect(starting).rejects.toMatchObject({
    ...{ code: 'CUT_NO_WRITER', message: 'nothing was cut: TRIAL_TIMED_OUT: waited in vain' },
  });
  expect(said).toEqual(['no writer for fast: TRIAL_TIMED_OUT: waited in vain']);
});

test('a volume that nobody has once the first node is back: why stands in the record', async () => {
  const volume = volumeOf(going);
  await volume.handOver();
  expect(volume.recorded([], 1)).toMatchObject({ readBack: 'TRIAL_TIMED_OUT: waited in vain' });
});

test('one that the next pod has is handed over', async () => {
  const volume = volumeOf(going, 5);
  expect(volume.isHandedOver).toBe(true);
  await volume.handOver();
  expect(volume.recorded([], 1)).not.toHaveProperty('readBack');
});

test('who gives up is not told of a driver', async () => {
  await expect(volumeOf(given).start()).rejects.toThrow('given up');
  await expect(volumeOf(given).handOver()).rejects.toThrow('given up');
});
