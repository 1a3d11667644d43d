/** T0 on the classes of class-shapes.yaml: each is served as API objects, gathered, and predicted. */
import { fileURLToPath } from 'node:url';
import type { V1StorageClass } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { diskModes } from '../../lib/scenario/disks/index.ts';
import { readYaml } from '../../lib/core/data-file.ts';
import { predictDriver } from '../../lib/probe/predict.ts';
import type { UserClients } from '../../lib/core/kubernetes-client.ts';
import { gatherFacts } from '../../lib/probe/facts.ts';

const strings = z.record(z.string(), z.string());
const shape = z.strictObject({
  name: z.string(),
  class: z.strictObject({
    provisioner: z.string(),
    parameters: strings.optional(),
    mountOptions: z.array(z.string()).optional(),
    volumeBindingMode: z.string().optional(),
  }),
  csi: z.string().nullable().optional(),
  attach: z.boolean().default(true),
  flags: z.array(z.string()).default([]),
  env: strings.default({}),
  topology: z.strictObject({ key: z.string(), values: z.enum(['self', 'same']) }).optional(),
  mode: z.enum([...diskModes, 'local']).nullable(),
  says: z.array(z.string()).default([]),
  saysNot: z.array(z.string()).default([]),
  source: z.string(),
});
type Shape = z.output<typeof shape>;

const path = fileURLToPath(new URL('class-shapes.yaml', import.meta.url));
const shapes: readonly Shape[] = readYaml(path, {
  ...{ kind: 'shapes', schema: z.array(shape), example: 'test/contract/class-shapes.yaml' },
  hint: 'the head of the file explains each field',
});

const list = (...items: object[]) => Promise.resolve({ items });

function clusterWith({ class: asked, csi, attach, flags, env, topology }: Shape): UserClients {
  const metadata = { name: 'c' };
  const driver = csi === undefined ? asked.provisioner : csi;
  const names = ['node-a', 'node-b'];
  const value = (name: string): string => (topology?.values === 'self' ? name : 'zone-1');
  const topologyKeys = topology === undefined ? [] : [topology.key];
  const nodes = names.map((name) => ({
    metadata: { name, labels: topology === undefined ? {} : { [topology.key]: value(name) } },
  }));
  const csiNodes = names.map((name) => ({
    metadata: { name },
    spec: { drivers: driver === null ? [] : [{ name: driver, nodeID: name, topologyKeys }] },
  }));
  const pod = {
    metadata: { name: 'driver', namespace: 'n' },
    spec: {
      containers: [
        {
          ...{ name: 'driver', image: 'driver:1', args: flags },
          env: Object.entries(env).map(([name, of]) => ({ name, value: of })),
        },
      ],
      volumes: [{ name: 'socket', hostPath: { path: `/var/lib/kubelet/plugins/${driver}` } }],
    },
  };
  const storageClass: V1StorageClass = { metadata, ...(asked as { provisioner: string }) };
  const object = { metadata: { name: driver }, spec: { attachRequired: attach } };
  return {
    core: {
      listNode: () => list(...nodes),
      listPodForAllNamespaces: () => (driver === null ? list() : list(pod)),
    },
    storage: {
      listStorageClass: () => list(storageClass),
      listCSINode: () => list(...csiNodes),
      readCSIDriver: ({ name }: { name: string }) =>
        Promise.resolve(name === driver ? object : undefined),
    },
    version: { getCode: () => Promise.resolve({ gitVersion: 'v1.37.2' }) },
  } as unknown as UserClients;
}

test.each(shapes)('$name', async (each) => {
  const prediction = predictDriver((await gatherFacts(clusterWith(each), 'c'))[0]);
  const text = prediction.lines.map(({ what, found }) => `${what}: ${found}`).join('\n');
  expect(prediction.mode ?? null, text).toBe(each.mode);
  for (const part of each.says) expect(text).toContain(part);
  for (const part of each.saysNot) expect(text).not.toContain(part);
});
