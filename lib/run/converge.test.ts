/** Who counts as serving after the heal: not a zombie on its last seconds. */
import { expect, test } from 'vitest';
import { servesAgain } from './converge.ts';

function situation(isLeaving: boolean, isIdle = false) {
  const counts = { a: 100, b: 0 };
  const mountedOn = new Set(['a']);
  const serves = servesAgain({
    victim: { name: 'mysql-0', uid: 'old', node: 'a' },
    isLeaving,
    isIdle,
    acked: () =>
      (['a', 'b'] as const).map((node) => ({ client: 'outside', node, count: counts[node] })),
    sightings: { cameBack: false, mountedOn },
  });
  return { counts, mountedOn, serves };
}

test('a pod that stays counts as soon as it commits', () => {
  const { counts, serves } = situation(false);
  expect(serves()).toBe(false);
  counts.a += 1;
  expect(serves()).toBe(true);
});

test('a zombie’s last commits are no recovery; its successor’s are', () => {
  const { counts, mountedOn, serves } = situation(true);
  counts.a += 79;
  expect(serves()).toBe(false);
  mountedOn.delete('a');
  expect(serves()).toBe(false);
  mountedOn.add('b');
  counts.b += 1;
  expect(serves()).toBe(true);
});

test('a new pod on the same node counts once the old one has left', () => {
  const { counts, mountedOn, serves } = situation(true);
  counts.a += 5;
  mountedOn.delete('a');
  expect(serves()).toBe(false);
  mountedOn.add('a');
  counts.a += 1;
  expect(serves()).toBe(true);
});

test('while two nodes have the volume nothing has converged', () => {
  const { counts, mountedOn, serves } = situation(true);
  mountedOn.add('b');
  counts.b += 10;
  expect(serves()).toBe(false);
  mountedOn.delete('a');
  expect(serves()).toBe(true);
});

test('an idle workload has converged when the old pod has left', () => {
  const { mountedOn, serves } = situation(true, true);
  expect(serves()).toBe(false);
  mountedOn.delete('a');
  expect(serves()).toBe(true);
});
