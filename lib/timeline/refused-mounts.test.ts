/**
 * A successor that fsck refuses, as a real run had it: it had the volume and wrote to it, and nowhere
 * may it be said that nobody had it.
 */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../test/support/run-record.ts';
import type { Access } from './access.ts';
import { observed } from '../history/observations.ts';
import type { SmallRecord } from '../history/reader.ts';
import { licencesOf } from './licence.ts';
import { tellStory } from './story.ts';
import { refusedInWords, refusedMountsOf } from './refused-mounts.ts';
import { mysql } from '../mysql/database.ts';

const call = (t: number, node: string, name: string, error?: string): SmallRecord =>
  see(t, observed.csiCall, node, {
    ...{ call: name, durationMs: 5 },
    ...(error === undefined ? {} : { error }),
  });

const refusal = 'fsck of /dev/loop2: exit 4';
const records: SmallRecord[] = [
  runRecord(),
  see(5, observed.podRunning, 'a', { pod: 'mysql-0', uid: 'old' }),
  see(6, observed.mounted, 'a', { device: '/dev/loop1', generation: 1 }),
  { type: 'action', t: 10_000, actor: 'fault', name: 'freeze', step: 'begin', node: 'a' },
  see(40_000, observed.podGone, '', { pod: 'mysql-0', uid: 'old', managers: [] }),
  call(70_000, 'a', 'ControllerUnpublishVolume'),
  see(70_100, observed.attachmentGone, 'a', { attachment: 'x' }),
  call(70_200, 'b', 'ControllerPublishVolume'),
  ...[75_200, 76_200, 78_200].map((t) => call(t, 'b', 'NodeStageVolume', refusal)),
  { type: 'phase', t: 500_000, phase: 'heal' },
  call(600_000, 'a', 'NodeStageVolume', refusal),
];
const accesses: Access[] = [
  { node: 'a', generation: 1, fromMs: 6, toMs: 510_000, bytesWritten: 4096 },
  { node: 'b', generation: 2, fromMs: 75_100, toMs: 500_000, bytesWritten: 196_608 },
];
const story = tellStory(records, mysql);

test('each node’s refusals are told with what it wrote', () => {
  const [b, a] = refusedMountsOf(story, accesses);
  expect(b).toEqual({
    ...{ node: 'b', fromS: 65.1, bytesWritten: 196_608, times: 3, firstS: 65.2, lastS: 68.2 },
    ...{ mountedS: null, errors: [refusal] },
  });
  expect(a).toMatchObject({ node: 'a', times: 1, firstS: 590 });
  expect(b && refusedInWords(b)).toBe(
    'node b had the volume from +65.1 s on, wrote 196,608 bytes, and was refused the mount 3 times',
  );
});

test('refusals before a mount that came are told with it', () => {
  const mounted = see(80_000, observed.mounted, 'b', { device: '/dev/loop2', generation: 2 });
  const came = tellStory(
    [...records, mounted].toSorted((x, y) => x.t - y.t),
    mysql,
  );
  const known = { times: 3, mountedS: 70 };
  // One path from the first refusal to the mount's end: nobody can tell what came before.
  expect(refusedMountsOf(came, accesses)[0]).toMatchObject({ ...known, bytesWritten: null });
  const [a, b] = accesses;
  const ended = [a, b && { ...b, toMs: 78_300 }].flatMap((access) => access ?? []);
  expect(refusedMountsOf(came, ended)[0]).toMatchObject({ ...known, bytesWritten: 196_608 });
  const never = accesses.filter(({ node }) => node === 'a');
  expect(refusedMountsOf(came, never)[0]).toMatchObject({ ...known, bytesWritten: 0 });
});

test('the decisions that let it have the volume are told, to the refusal', () => {
  const { first, later } = licencesOf(story, accesses);
  expect(first).toMatchObject({ from: 'a', to: 'b', atS: 65.2, overlaps: true });
  expect(first?.steps.map(({ step }) => step)).toEqual([
    'the pod object was gone',
    'the driver answered the detach',
    'the VolumeAttachment was deleted',
    'the driver attached the volume to another node',
    'the successor had the volume, and its mount was refused',
  ]);
  expect(first?.gaps).toEqual(['no record shows why the detach did not wait for the unmount']);
  expect(later).toEqual([]);
});
