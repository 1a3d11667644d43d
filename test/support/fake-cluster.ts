/** An API server with a lost node, a database's pod and its volume: enough for kubectl to be asked for. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Kind {
  readonly api: string;
  readonly kind: string;
  readonly name: string;
  readonly namespaced?: boolean;
  readonly items: readonly object[];
}

const named = (name: string, more: object = {}, namespace = 'shop'): object => ({
  metadata: { name, namespace, creationTimestamp: '2026-11-24T12:00:00Z' },
  ...more,
});

const pod = (name: string, grace: number): object =>
  named(name, {
    spec: {
      ...{ nodeName: 'worker-1', terminationGracePeriodSeconds: grace, containers: [] },
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-mysql-0' } }],
    },
    status: { phase: 'Pending' },
  });

const manager = named(
  'kube-controller-manager-cp',
  {
    spec: {
      containers: [{ command: ['kube-controller-manager', '--node-monitor-grace-period=50s'] }],
    },
  },
  'kube-system',
);

/** A taint is put on it and taken away again. */
const node = {
  spec: { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] },
  status: {
    conditions: [{ type: 'Ready', status: 'Unknown' }],
    volumesInUse: ['kubernetes.io/csi/disk.example^handle-1'],
  },
};

const kinds: readonly Kind[] = [
  {
    ...{ api: 'v1', kind: 'PersistentVolume', name: 'persistentvolumes' },
    items: [
      named('pv-1', {
        spec: {
          csi: { driver: 'disk.example', volumeHandle: 'handle-1' },
          accessModes: ['ReadWriteOnce'],
          claimRef: { namespace: 'shop', name: 'data-mysql-0' },
        },
      }),
      named('pv-2', {
        spec: {
          awsElasticBlockStore: { volumeID: 'vol-1' },
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: '1Gi' },
        },
      }),
    ],
  },
  {
    ...{ api: 'v1', kind: 'Node', name: 'nodes' },
    items: [named('worker-1', node)],
  },
  {
    ...{ api: 'v1', kind: 'Pod', name: 'pods', namespaced: true },
    items: [pod('mysql-0', 30), pod('no-grace', 0), named('podmon-1', { spec: {} }), manager],
  },
  {
    ...{ api: 'v1', kind: 'Event', name: 'events', namespaced: true },
    items: [named('event-1', { type: 'Warning', reason: 'FailedAttachVolume', message: 'wait' })],
  },
  {
    ...{ api: 'storage.k8s.io/v1', kind: 'CSIDriver', name: 'csidrivers' },
    items: [named('disk.example', { spec: { attachRequired: true } })],
  },
  {
    ...{ api: 'storage.k8s.io/v1', kind: 'VolumeAttachment', name: 'volumeattachments' },
    items: [
      named('csi-1', {
        spec: { nodeName: 'worker-1', source: { persistentVolumeName: 'pv-1' } },
        status: { attached: true },
      }),
    ],
  },
  {
    ...{
      api: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: 'customresourcedefinitions',
    },
    items: [named('nodehealthchecks.remediation.medik8s.io')],
  },
];

const prefix = (api: string): string => (api === 'v1' ? '/api/v1' : `/apis/${api}`);

/** What kubectl reads first: which kinds there are. */
function resources(api: string): object {
  const verbs = ['get', 'list', 'patch', 'watch'];
  const short = new Map([
    ['customresourcedefinitions', ['crd', 'crds']],
    ['persistentvolumes', ['pv']],
  ]);
  return {
    ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: api },
    resources: kinds
      .filter((each) => each.api === api)
      .map(({ name, kind, namespaced = false }) => ({
        ...{ name, kind, namespaced, verbs, singularName: kind.toLowerCase() },
        shortNames: short.get(name) ?? [],
      })),
  };
}

function answer(path: string): object | undefined {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') {
    const groups = [...new Set(kinds.map(({ api }) => api))].filter((api) => api !== 'v1');
    return {
      kind: 'APIGroupList',
      groups: groups.map((groupVersion) => {
        const [name = '', version = ''] = groupVersion.split('/');
        const each = { groupVersion, version };
        return { name, versions: [each], preferredVersion: each };
      }),
    };
  }
  const listed = kinds.find(({ api }) => path === prefix(api));
  if (listed !== undefined) return resources(listed.api);
  for (const { api, kind, name, items } of kinds) {
    const [, namespace] = /\/namespaces\/([^/]+)/.exec(path) ?? [];
    const all = items
      .filter((item) => namespace === undefined || JSON.stringify(item).includes(`"${namespace}"`))
      .map((item) => ({ apiVersion: api, kind, ...item }));
    if (path.replace(`/namespaces/${namespace}`, '') === `${prefix(api)}/${name}`) {
      return {
        kind: `${kind}List`,
        apiVersion: api,
        metadata: { resourceVersion: '1' },
        items: all,
      };
    }
    if (path.startsWith(`${prefix(api)}/${name}/`)) return all[0];
  }
  return undefined;
}

export interface FakeCluster extends AsyncDisposable {
  readonly url: string;
  /** `PATCH path: body`. */
  readonly changes: readonly string[];
}

export async function fakeCluster(): Promise<FakeCluster> {
  const changes: string[] = [];
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const body: Buffer[] = [];
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(body).toString();
      if (request.method === 'PATCH') {
        changes.push(`PATCH ${pathname}: ${sent}`);
        Object.assign(node.spec, (JSON.parse(sent) as typeof node).spec);
      }
      const found = answer(pathname);
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(found ?? { kind: 'Status', status: 'Failure', code: 404 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    changes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
