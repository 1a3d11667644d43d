/** Who could write, when: what would once have passed as safe. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { exposureOf, overlapsOf } from './access.ts';
import { tellStory, type Story } from './story.ts';
import { mysql } from '../../mysql/database.ts';

function story(
  fault: 'freeze' | 'network-partition' | 'node-crash',
  ...more: SmallRecord[]
): Story {
  const about = { type: 'action', actor: 'fault', name: fault, node: 'a' } as const;
  const records: SmallRecord[] = [
    runRecord({ fault: { kind: fault } }),
    see(500, observed.mounted, 'a'),
    { ...about, t: 1000, step: 'begin' },
    { ...about, t: 1100, step: 'done' },
    ...more,
    { type: 'phase', t: 50_000, phase: 'heal' },
    { type: 'phase', t: 90_000, phase: 'report' },
  ];
  return tellStory(
    records.toSorted((x, y) => x.t - y.t),
    mysql,
  );
}
const exposedMs = (of: Story): number => exposureOf(of).summary.ms;

test('one who comes back beside the successor has access again', () => {
  const back = story(
    'network-partition',
    see(10_000, observed.unmounted, 'a'),
    see(20_000, observed.mounted, 'b'),
    see(30_000, observed.mounted, 'a'),
    see(35_000, observed.unmounted, 'b'),
  );
  expect(exposedMs(back)).toBe(5000);
});

test('an overlap after the heal is one', () => {
  const late = story(
    'network-partition',
    see(10_000, observed.unmounted, 'a'),
    see(20_000, observed.mounted, 'b'),
    see(60_000, observed.mounted, 'a'),
    see(64_000, observed.unmounted, 'a'),
  );
  expect(exposedMs(late)).toBe(4000);
});

test('so is one of two nodes neither of which is the victim', () => {
  const third = story(
    'node-crash',
    see(20_000, observed.mounted, 'b'),
    see(30_000, observed.mounted, 'c'),
    see(33_000, observed.unmounted, 'b'),
  );
  expect(exposedMs(third)).toBe(3000);
});

test('a frozen node and one off the network keep their access, one without power does not', () => {
  const mount = [see(20_000, observed.mounted, 'b'), see(60_000, observed.unmounted, 'a')];
  expect(exposedMs(story('freeze', ...mount))).toBe(40_000);
  expect(exposedMs(story('network-partition', ...mount))).toBe(40_000);
  expect(exposedMs(story('node-crash', ...mount))).toBe(0);
});

test('a node that staged the volume and could not mount it had access: fsck writes', () => {
  const refused = story(
    'network-partition',
    see(20_000, observed.deviceWritten, 'b', { device: 'x', generation: 2, bytesWritten: 196_608 }),
  );
  expect(exposedMs(refused)).toBe(70_000);
});

test('an overlap of a fraction of a millisecond is not nothing', () => {
  const brief = story(
    'network-partition',
    see(20_000, observed.mounted, 'b'),
    see(20_000.2, observed.unmounted, 'a'),
  );
  expect(exposedMs(brief)).toBe(1);
});

test('who is cut off as another one’s staging ends has no time beside it', () => {
  // In floating point 39396.863 + 558.119 is less than 39954.982.
  const staging = { call: csiCalls.stage, durationMs: 558.119 };
  const preempted = story(
    'network-partition',
    see(39_396.863, observed.csiCall, 'b', staging),
    see(39_954.982, observed.deviceCut, 'a'),
  );
  expect(exposedMs(preempted)).toBe(0);
});

test('servers that acknowledge at once are two writers, whatever else is reported', () => {
  const mounted = story('network-partition', see(0, observed.mounted, 'a'));
  const seconds = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => (from + index) * 1000);
  const exposed = (...acked: readonly { node: string; atMs: readonly number[] }[]): number =>
    exposureOf(mounted, { acked }).summary.ms;
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
