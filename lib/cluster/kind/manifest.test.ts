import { expect, test } from 'vitest';
import { InfrastructureError } from '../../errors.ts';
import { fillManifest, readManifest } from './manifest.ts';

const values = {
  MYSQL_IMAGE: 'mysql:9.7',
  TOLERATION_SECONDS: 300,
  TRX_COMMIT: 1,
  SIZE_BYTES: 2 ** 31,
  DRIVER: 'disk.forcedetach.dev',
  VOLUME_HANDLE: 'fd-run-1',
  DETACH_MODE: 'unfenced',
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
    readonly volumeClaimTemplates: { spec: { volumeName: string } }[];
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

test('a name without a value is an error, but not in a comment', () => {
  expect(() => fillManifest('kind: ${KIND}', {})).toThrow(InfrastructureError);
  expect(fillManifest('# ${NAMES}\nkind: Pod', {})).toEqual([{ kind: 'Pod' }]);
});
