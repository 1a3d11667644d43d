import { expect, test } from 'vitest';
import { readAttributes } from '../../csi/volume-attributes.ts';
import { driverName } from '../../csi/layout.ts';
import { InfrastructureError } from '../../errors.ts';
import { parseScenario, type ScenarioInput } from '../../experiment/scenario.ts';
import { volumeValues } from './database.ts';
import { fillManifest, readManifest } from './manifest.ts';

const choice = (change: Partial<ScenarioInput> = {}): Record<string, string> =>
  volumeValues(
    parseScenario({
      name: 't',
      question: '?',
      fault: 'network-partition',
      expected: ['safe'],
      ...change,
    }),
  );

const values = {
  ...choice(),
  MYSQL_IMAGE: 'mysql:9.7',
  TOLERATION_SECONDS: 300,
  TRX_COMMIT: 1,
  SIZE_BYTES: 2 ** 31,
  VOLUME_HANDLE: 'fd-run-1',
};

interface StatefulSet {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly tolerations: { key: string; tolerationSeconds: number }[];
        readonly containers: { image: string; args: string[] }[];
      };
    };
    readonly volumeClaimTemplates: { spec: { volumeName: string; accessModes: string[] } }[];
  };
}

interface Volume {
  readonly spec: {
    readonly csi: { readonly fsType: string; readonly volumeAttributes: Record<string, string> };
  };
}

test('MySQL tolerates a lost node as long as the scenario says, and keeps its durability', async () => {
  const objects = await readManifest('mysql/statefulset.yaml', values);
  expect(objects.map(({ kind }) => kind)).toEqual(['Service', 'StatefulSet']);
  const { spec } = objects[1] as unknown as StatefulSet;
  const { tolerations, containers } = spec.template.spec;
  expect(tolerations.map(({ key, tolerationSeconds }) => [key, tolerationSeconds])).toEqual([
    ['node.kubernetes.io/unreachable', 300],
    ['node.kubernetes.io/not-ready', 300],
  ]);
  expect(containers[0]?.image).toBe('mysql:9.7');
  expect(containers[0]?.args).toContain('--innodb-flush-log-at-trx-commit=1');
  expect(containers[0]?.args).toContain('--sync-binlog=1');
  expect(containers[0]?.args).toContain('--report-host=$(NODE_NAME)');
});

test('the volume is bound to the claim that the StatefulSet makes, for one node', async () => {
  const [volume] = await readManifest('mysql/volume.yaml', values);
  const set = (await readManifest('mysql/statefulset.yaml', values))[1] as unknown as StatefulSet;
  expect(set.spec.volumeClaimTemplates[0]?.spec.volumeName).toBe(volume?.metadata?.name);
  expect(volume).toMatchObject({
    spec: {
      accessModes: ['ReadWriteOnce'],
      claimRef: { name: 'data-mysql-0' },
      csi: { volumeHandle: 'fd-run-1', volumeAttributes: { detachMode: 'unfenced' } },
    },
  });
});

test('the kind of disk reaches the driver as attributes, all of them as text', async () => {
  const asked = choice({ disk: 'ack-early', cutAfterMs: 7_000, filesystem: 'ext4-mmp' });
  const [volume] = await readManifest('mysql/volume.yaml', { ...values, ...asked });
  const { csi } = (volume as unknown as Volume).spec;
  expect(csi.fsType).toBe('ext4');
  expect(readAttributes(csi.volumeAttributes)).toEqual({
    detachMode: 'ack-early',
    cutAfterMs: 7_000,
    watcherCheck: 'works',
    fileLocks: 'shared',
    flushes: 'honest',
    keepWrites: false,
    mkfs: 'mmp',
  });
});

test('a volume of many nodes, of one pod, of another file system', async () => {
  const asked = choice({ filesystem: 'xfs', accessMode: 'ReadWriteOncePod' });
  const both = { ...values, ...asked };
  const [volume] = await readManifest('mysql/volume.yaml', both);
  const set = (await readManifest('mysql/statefulset.yaml', both))[1] as unknown as StatefulSet;
  expect(volume).toMatchObject({
    spec: { accessModes: ['ReadWriteOncePod'], csi: { driver: driverName, fsType: 'xfs' } },
  });
  expect(set.spec.volumeClaimTemplates[0]?.spec.accessModes).toEqual(['ReadWriteOncePod']);
});

test('a shared directory is another driver’s', async () => {
  const asked = choice({ disk: 'shared-file', accessMode: 'ReadWriteMany' });
  const [volume] = await readManifest('mysql/volume.yaml', { ...values, ...asked });
  expect(volume).toMatchObject({ spec: { csi: { driver: 'files.forcedetach.dev' } } });
});

test('a name without a value is an error, but not in a comment', () => {
  expect(() => fillManifest('kind: ${KIND}', {})).toThrow(InfrastructureError);
  expect(fillManifest('# ${NAMES}\nkind: Pod', {})).toEqual([{ kind: 'Pod' }]);
});
