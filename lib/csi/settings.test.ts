import { expect, test } from 'vitest';
import { isName, layoutOf, volumeFolder } from './layout.ts';
import { readDriverSettings } from './settings.ts';

const environment = { NODE_NAME: 'w1', CSI_SOCKET: '/csi/csi.sock', FORCEDETACH_LOOPS: '128-191' };

test('settings come from the environment', () => {
  expect(readDriverSettings(environment)).toEqual({
    CSI_DRIVER_NAME: 'disk.forcedetach.dev',
    NODE_NAME: 'w1',
    CSI_SOCKET: '/csi/csi.sock',
    FORCEDETACH_LOOPS: { first: 128, last: 191 },
    KUBERNETES_SERVICE_PORT: 443,
    FORCEDETACH_ROOT: '/var/lib/forcedetach',
  });
});

test('what is missing is named', () => {
  expect(() => readDriverSettings({ NODE_NAME: 'w1' })).toThrow(/CSI_SOCKET/);
});

test.each(['..', '.', '', 'a/b', '../a', '-a'])('%j names nothing', (name) => {
  expect(isName(name)).toBe(false);
  expect(() => volumeFolder(layoutOf('/root'), name)).toThrow(/is not a valid name of a volume/);
});
