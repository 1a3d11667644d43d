/** `forcedetach risk` on a stranger's cluster: as it is, with zones and local volumes, and with no rights at all. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { $ } from '../../lib/kind/engine/shell.ts';
import { kubectl } from '../../lib/kind/kubernetes.ts';
import type { RiskReport } from '../../lib/probe/risk.ts';
import { applyText, limitedAccount, removeText, strangersLab, type Lab } from './probe-lab.ts';
import { changedSince, stateOf } from './probe-state.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await strangersLab('risked');
});
afterAll(() => lab[Symbol.asyncDispose]());

/** By the command, as JSON. */
async function riskOf(kubeconfig = lab.kubeconfig): Promise<RiskReport> {
  const words = ['risk', '--kubeconfig', kubeconfig, '--output', 'json'];
  const { stdout } = await $({ quiet: true })`node bin/forcedetach.mjs ${words}`;
  return JSON.parse(stdout) as RiskReport;
}

/** What stands in the line of a volume's class. */
const volumesOf = ({ lines }: RiskReport, name: string): RiskReport['lines'] =>
  lines.filter(({ check, what, found }) => check === 1 && `${what} ${found}`.includes(name));

/** A volume that nobody has to serve: what is read of it is in the object. */
const volume = (name: string, source: object, key: string, value: string): object => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
  spec: {
    ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: name },
    ...source,
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }],
      },
    },
  },
});

test('its own storage, volumes of one node, and volumes of a zone with one node', async () => {
  const [first, second] = lab.workers;
  const zone = 'topology.kubernetes.io/zone';
  const label = (value: (node: string) => string): Promise<unknown> =>
    Promise.all(
      [first, second].map(async (node) => {
        const words = [...kubectl, 'label', '--overwrite', 'node', node, value(node)];
        await $({ quiet: true })`docker exec ${`${lab.name}-control-plane`} ${words}`;
      }),
    );
  const volumes = [
    volume('of-one-node', { local: { path: '/mnt/disk' } }, 'kubernetes.io/hostname', first),
    volume('of-a-zone', { csi: { driver: 'iscsi.csi.k8s.io', volumeHandle: 'h' } }, zone, 'east'),
  ];
  const text = volumes.map((each) => stringify(each)).join('---\n');
  await label((node) => `${zone}=${node === first ? 'east' : 'west'}`);
  await applyText(lab.clients, text);
  const before = await stateOf(lab);

  const report = await riskOf();

  expect(await changedSince(lab, before)).toEqual([]);
  expect(report.kubernetes).toMatch(/^v1\.\d+\.\d+$/);
  const [local] = volumesOf(report, 'of-one-node');
  expect(local).toMatchObject({ level: 'safe', means: expect.stringContaining(first) });
  // One node in the zone today may be two tomorrow.
  expect(volumesOf(report, 'of-a-zone').map(({ level }) => level)).not.toContain('safe');
  await removeText(lab.clients, text);
  await label(() => `${zone}-`);
});

test('without rights nothing is known, each question is named, and nothing is safe', async () => {
  const { kubeconfig } = await limitedAccount(lab);
  const { level, lines } = await riskOf(kubeconfig);
  expect(level).toBe('unread');
  const refused = lines.filter((line) => line.level === 'unread').map(({ what }) => what);
  const asked = ['persistentvolumes', 'storageclasses', 'customresourcedefinitions', 'pods'];
  expect(refused).toEqual(expect.arrayContaining(asked.map((each) => `list ${each}`)));
  expect(lines.filter((line) => line.level === 'safe')).toEqual([]);
});
