/** Who could write, when: what would once have passed as safe. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { see, storyOf } from '../../../test/support/run-record.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { type AccessEvidence, exposureOf, overlapsOf } from './access.ts';

const exposedMs = (
  fault: 'freeze' | 'network-partition' | 'node-crash',
  more: readonly SmallRecord[],
  evidence?: AccessEvidence,
): number => {
  const about: readonly SmallRecord[] = [
    see(500, observed.mounted, 'a'),
    { type: 'phase', t: 50_000, phase: 'heal' },
    { type: 'phase', t: 90_000, phase: 'report' },
  ];
  return exposureOf(storyOf([...about, ...more], { fault: { kind: fault } }), evidence).summary.ms;
};
const mounted = (t: number, node: string): SmallRecord => see(t, observed.mounted, node);
const unmounted = (t: number, node: string): SmallRecord => see(t, observed.unmounted, node);
const toOther = [mounted(20_000, 'b'), unmounted(60_000, 'a')];
// In floating point 39396.863 + 558.119 is less than 39954.982.
const staging = { call: csiCalls.stage, durationMs: 558.119 };
const fscked = { device: 'x', generation: 2, bytesWritten: 196_608 };

test.each<[string, Parameters<typeof exposedMs>[0], readonly SmallRecord[], number]>([
  [
    'one who comes back beside the successor has access again',
    'network-partition',
    [unmounted(10_000, 'a'), mounted(20_000, 'b'), mounted(30_000, 'a'), unmounted(35_000, 'b')],
    5000,
  ],
  [
    'an overlap after the heal is one',
    'network-partition',
    [unmounted(10_000, 'a'), mounted(20_000, 'b'), mounted(60_000, 'a'), unmounted(64_000, 'a')],
    4000,
  ],
  [
    'so is one of two nodes neither of which is the victim',
    'node-crash',
    [mounted(20_000, 'b'), mounted(30_000, 'c'), unmounted(33_000, 'b')],
    3000,
  ],
  ['a frozen node keeps its access', 'freeze', toOther, 40_000],
  ['one off the network keeps its access', 'network-partition', toOther, 40_000],
  ['one without power does not', 'node-crash', toOther, 0],
  [
    'a node that staged the volume and could not mount it had access: fsck writes',
    'network-partition',
    [see(20_000, observed.deviceWritten, 'b', fscked)],
    70_000,
  ],
  [
    'an overlap of a fraction of a millisecond is not nothing',
    'network-partition',
    [mounted(20_000, 'b'), unmounted(20_000.2, 'a')],
    1,
  ],
  [
    'who is cut off as another one’s staging ends has no time beside it',
    'network-partition',
    [see(39_396.863, observed.csiCall, 'b', staging), see(39_954.982, observed.deviceCut, 'a')],
    0,
  ],
])('%s', (_, fault, records, ms) => expect(exposedMs(fault, records)).toBe(ms));

test('servers that acknowledge at once are two writers, whatever else is reported', () => {
  const seconds = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => (from + index) * 1000);
  const exposed = (...acked: readonly { node: string; atMs: readonly number[] }[]): number =>
    exposedMs('network-partition', [], { acked });
  expect(exposed({ node: 'a', atMs: seconds(5, 30) })).toBe(0);
  expect(exposed({ node: 'b', atMs: seconds(10, 21) })).toBe(10_000);
  const two = [seconds(5, 20), seconds(10, 30)].map((atMs) => ({ node: 'a', atMs }));
  expect(exposed(...two)).toBeGreaterThan(5000);
});

test('overlaps are where two or more are open, whatever their order and number', () => {
  const span = fc.tuple(fc.nat(40), fc.nat(40), fc.constantFrom('a', 'b', 'c'));
  fc.assert(
    fc.property(fc.array(span, { maxLength: 8 }), (spans) => {
      const accesses = spans
        .map(([from, length, node]) => ({ node, fromMs: from, toMs: from + length }))
        .toSorted((x, y) => x.fromMs - y.fromMs);
      const found = overlapsOf(accesses);
      for (let at = 0.5; at < 90; at += 1) {
        const open = accesses.filter(({ fromMs, toMs }) => fromMs < at && at < toMs).length;
        expect(found.some(({ fromMs, toMs }) => fromMs < at && at < toMs)).toBe(open >= 2);
      }
    }),
  );
});
