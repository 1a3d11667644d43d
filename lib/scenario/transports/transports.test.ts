import { expect, test } from 'vitest';
import { parseScenario } from '../scenario.ts';
import { endsOf, hangsWhenCut, imagesBeside } from './index.ts';

const ask = (fault: object, disk: object = {}): unknown =>
  parseScenario({
    ...{ name: 'test', question: '?', expected: ['safe'] },
    fault: { kind: 'network-partition', ...fault },
    disk: { transport: 'nbd', ...disk },
  });

test('what a transport cannot do, or nobody tried over it, is refused with the reason', () => {
  expect(() => ask({ link: 'stalls' })).not.toThrow();
  expect(() => ask({ link: 'errors' })).toThrow(
    'errors is refused with disk.transport nbd: the client holds its requests while the storage network is gone: give stalls\n  → at fault.link',
  );
  expect(() => ask({ kind: 'node-reboot' })).toThrow('not been measured over a storage network');
  expect(() => ask({}, { mode: 'shared-file' })).toThrow('not with disk shared-file');
});

test('a revocation goes with a transport that has it, and with a mode that ever cuts', () => {
  expect(() => ask({}, { mode: 'fenced', revocation: 'export' })).not.toThrow();
  expect(() => ask({}, { mode: 'fenced', revocation: 'cut', transport: 'array' })).not.toThrow();
  expect(() => ask({}, { mode: 'fenced', revocation: 'export', transport: 'array' })).toThrow(
    'with disk.transport array: Allowed choices are cut, hang.',
  );
  expect(() => ask({}, { mode: 'fenced', revocation: 'hang' })).toThrow('with disk.transport nbd');
  expect(() => ask({}, { mode: 'fenced', revocation: 'hang', transport: 'array' })).not.toThrow();
  const hangs = { mode: 'fenced', revocation: 'export' };
  expect(() => ask({ kind: 'shutdown-hang' }, hangs)).toThrow('what waits for the disk cannot be');
  expect(() => ask({}, { mode: 'unfenced', revocation: 'export' })).toThrow(
    'not with disk unfenced, exclusive, shared-file\n  → at disk.revocation',
  );
});

test('iSCSI: a target and an initiator of its own for each attachment, and no timeout', () => {
  const asked = endsOf('iscsi')?.connect('storage', 'forcedetach.v.1') ?? '';
  expect(asked).toContain('target=iqn.2026-01.dev.forcedetach:forcedetach.v.1,lun=1,');
  expect(asked).toContain(
    'initiator-name=iqn.2026-01.dev.forcedetach:node.forcedetach.v.1,timeout=0',
  );
});

test('NBD: nothing is given up while a run lasts', () => {
  expect(endsOf('array')).toBeUndefined();
  const asked = endsOf('nbd')?.connect('storage', 'forcedetach.v.1') ?? '';
  expect(asked).toContain('server.host=storage,server.port=10809,export=forcedetach.v.1,');
  expect(Number(/reconnect-delay=(\d+)/.exec(asked)?.[1])).toBe(86_400);
});

test('NFS: an export for each attachment, and what is refused is an error', () => {
  const asked = endsOf('nfs')?.connect('storage', 'forcedetach.v.1') ?? '';
  expect(asked).toContain('server.host=storage,path=/export/forcedetach.v.1/forcedetach.v.1,');
  for (const revocation of ['client', 'unexport'] as const)
    expect(hangsWhenCut({ transport: 'nfs', revocation })).toBe(false);
  expect(() => ask({}, { transport: 'nfs', mode: 'fenced', revocation: 'acl' })).toThrow(
    'unexport',
  );
});

test('RBD: the image is the volume’s, and what Ceph does not show is refused', () => {
  const asked = endsOf('rbd')?.connect('storage', 'forcedetach.v-1.2') ?? '';
  expect(asked).toContain('image=forcedetach.v-1,server.0.host=storage,');
  expect(imagesBeside('rbd')).toEqual(['initiator', 'ceph']);
  const rbd = { transport: 'rbd' };
  expect(() => ask({}, { ...rbd, mode: 'fenced', revocation: 'lock-rm' })).not.toThrow();
  expect(() => ask({ link: 'stalls' }, rbd)).not.toThrow();
  expect(() => ask({}, { ...rbd, keepWrites: true })).toThrow('the osd’s log has no data');
  expect(() => ask({ kind: 'node-crash', powerLoss: 'drops' }, rbd)).toThrow('is never lost');
});
