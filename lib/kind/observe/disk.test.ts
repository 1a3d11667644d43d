import { expect, test } from 'vitest';
import { recordOf } from './cluster.ts';

const device = { volume: 'pv-1', node: 'w1', device: '/dev/loop128', generation: 2 };

test('a mount is placed on the run’s clock, under its node', () => {
  expect(recordOf({ type: 'mounted', monoMs: 1500, ...device }, 1000)).toEqual({
    type: 'observation',
    t: 500,
    source: 'mounts',
    name: 'mounted',
    node: 'w1',
    data: { volume: 'pv-1', device: '/dev/loop128', generation: 2 },
  });
});

test('bytes written come with the attachment that wrote them', () => {
  const line = { type: 'written', monoMs: 1000, ...device, bytesWritten: 4096 } as const;
  expect(recordOf(line, 1000)).toMatchObject({
    source: 'devices',
    name: 'device-written',
    data: { device: '/dev/loop128', generation: 2, bytesWritten: 4096 },
  });
});

test('a link that stalls is the node’s, the requests that it holds are a device’s', () => {
  const link = { type: 'link', monoMs: 2000, node: 'w1', state: 'stall' } as const;
  expect(recordOf(link, 1000)).toEqual({
    type: 'observation',
    t: 1000,
    source: 'devices',
    name: 'link-changed',
    node: 'w1',
    data: { state: 'stall' },
  });
  expect(recordOf({ type: 'held', monoMs: 2100, ...device, held: 12 }, 1000)).toMatchObject({
    name: 'requests-held',
    node: 'w1',
    data: { device: '/dev/loop128', generation: 2, held: 12 },
  });
});

test('a CSI call keeps its request, its error and what it found out on its way', () => {
  const entry = {
    monoMs: 1200,
    wallMs: 1_700_000_000_000,
    durationMs: 30,
    host: 'w2',
    call: 'NodeStageVolume',
    node: 'w2',
    volume: 'pv-1',
    request: { volumeId: 'pv-1' },
    error: 'INTERNAL: FSCK_REFUSED',
    notes: { generation: 3, fsck: 'recovering journal' },
  };
  expect(recordOf({ type: 'call', entry }, 1000)).toMatchObject({
    t: 200,
    wall: 1_700_000_000_000,
    source: 'csi',
    name: 'csi-call',
    node: 'w2',
    data: {
      call: 'NodeStageVolume',
      volume: 'pv-1',
      durationMs: 30,
      error: 'INTERNAL: FSCK_REFUSED',
      generation: 3,
      fsck: 'recovering journal',
    },
  });
});

test('what could not be looked at is an error of the run', () => {
  const line = { type: 'failure', monoMs: 1300, message: 'EIO' } as const;
  expect(recordOf(line, 1000)).toEqual({
    type: 'error',
    t: 300,
    where: 'observe-disk',
    message: 'EIO',
  });
});
