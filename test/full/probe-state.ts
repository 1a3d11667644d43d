/** All that a cluster is: every object of every kind, and what its nodes' own hosts hold; and what differs. */
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { $ } from '../../lib/kind/engine/shell.ts';
import type { KubeClients } from '../../lib/core/kubernetes-client.ts';
import type { Lab } from './probe-lab.ts';

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [key: string]: unknown;
  };
  readonly status?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Key → what must be the same. */
type Pages = Readonly<Record<string, string>>;

export interface ClusterState {
  readonly objects: Pages;
  readonly hosts: Pages;
}

async function get({ config }: KubeClients, path: string): Promise<unknown> {
  const url = new URL(`${config.getCurrentCluster()?.server ?? ''}${path}`);
  const options: Parameters<typeof request>[1] = {};
  await config.applyToHTTPSOptions(options);
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(JSON.parse(text)));
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

interface Resource {
  readonly name: string;
  readonly verbs: readonly string[];
}

/** Paths of all lists, each kind once. */
async function listPaths(clients: KubeClients): Promise<string[]> {
  const groups = (await get(clients, '/apis')) as {
    readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
  };
  const versions = groups.groups.map((group) => `/apis/${group.preferredVersion.groupVersion}`);
  const all = await Promise.all(
    ['/api/v1', ...versions].map(async (base) => {
      const { resources } = (await get(clients, base)) as { readonly resources: Resource[] };
      return resources
        .filter(({ name, verbs }) => verbs.includes('list') && !name.includes('/'))
        .map(({ name }) => `${base}/${name}`);
    }),
  );
  // Events are a diary, and component statuses are made up at each look.
  return all.flat().filter((path) => !/\/(events|componentstatuses)$/.test(path));
}

/** They beat: that they are there must be the same, not how often. */
const beating = /\/(leases|nodes)$/;

/** What a node that was away makes of others: their state by the controllers, told in their status. */
const told = /\/(pods|endpoints|endpointslices|daemonsets|deployments|replicasets|csinodes)$/;

const trigger = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Without what changes by itself. */
function lasting(path: string, { metadata, status, ...rest }: Listed): object {
  const { resourceVersion: _v, managedFields: _m, generation: _g, annotations, ...meta } = metadata;
  const notes = Object.fromEntries(
    Object.entries(annotations ?? {}).filter(([name]) => name !== trigger),
  );
  const volumes = path.endsWith('/nodes')
    ? { attached: status?.['volumesAttached'], inUse: status?.['volumesInUse'] }
    : {};
  const body = path.endsWith('/leases') ? {} : rest;
  return { ...body, metadata: { ...meta, annotations: notes }, volumes };
}

async function objectsOf(clients: KubeClients, wasAway: boolean): Promise<Pages> {
  const objects: Record<string, string> = {};
  for (const path of await listPaths(clients)) {
    const { items } = (await get(clients, path)) as { readonly items: readonly Listed[] };
    for (const item of items) {
      const { name, namespace = '', resourceVersion = '' } = item.metadata;
      const moves = beating.test(path) || (wasAway && told.test(path));
      const version = moves ? '' : resourceVersion;
      const content = JSON.stringify(lasting(path, item));
      objects[`${path} ${namespace}/${name}`] = `${version} ${content}`;
    }
  }
  return objects;
}

/**
 * Names of links to pods are drawn anew for each pod. A kubelet keeps the folder of each driver that it ever had
 * a volume of; what is in it belongs to volumes.
 */
const look = `
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
nft list tables | sed 's/^/nft /'
systemctl list-units --all --no-legend --plain | sed -n 's/^\\(forcedetach[^ ]*\\).*/unit \\1/p'
ls -d /run/forcedetach* /var/tmp/* /tmp/forcedetach* 2>/dev/null | sed 's/^/file /'
ls /var/lib/kubelet/pods | sed 's/^/pod /'
find /var/lib/kubelet/plugins/kubernetes.io -mindepth 3 -maxdepth 4 2>/dev/null | grep -v '/\\(staging\\|publish\\)$' | sed 's/^/staged /'
sed 's/^[^ ]* \\([^ ]*\\) .*/mount \\1/' /proc/mounts
ip -o route | sed 's/dev veth[^ ]*/dev veth/; s/^/route /'
for each in /sys/block/loop*/loop/backing_file; do
  number=$(echo "$each" | tr -dc 0-9)
  test -e "$each" && test "$number" -ge "\${LOOPS%-*}" && test "$number" -le "\${LOOPS#*-}" && sed 's/^/loop /' "$each"
done
systemctl is-active kubelet | sed 's/^/kubelet /'
`;

/** Loop devices are the kernel's, which other clusters share: those of its driver alone count. */
async function hostsOf(nodes: readonly string[], loops: string): Promise<Pages> {
  const looks = await Promise.all(
    nodes.map(async (node) => {
      const { stdout } = await $({
        quiet: true,
        nothrow: true,
      })`docker exec --env LOOPS=${loops} ${node} sh -c ${look}`;
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => `${node} ${line}`);
    }),
  );
  return Object.fromEntries(looks.flat().map((line) => [line, '']));
}

/** `wasAway`: a node was, in between; then what its absence made of others' status is not compared. */
export async function stateOf(
  { clients, name, workers, loops }: Lab,
  wasAway = false,
): Promise<ClusterState> {
  const [objects, hosts] = await Promise.all([
    objectsOf(clients, wasAway),
    hostsOf([`${name}-control-plane`, ...workers], loops),
  ]);
  return { objects, hosts };
}

function differences(before: Pages, after: Pages): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => {
    if (before[key] === undefined) return [`new: ${key}`];
    if (after[key] === undefined) return [`gone: ${key}`];
    return before[key] === after[key] ? [] : [`${key}\n  was ${before[key]}\n  is  ${after[key]}`];
  });
}

/** What differs after some patience: a kubelet takes its time with what a pod has left. */
export async function changedSince(
  lab: Lab,
  before: ClusterState,
  { wasAway = false, except = /$^/, withinMs = 150_000 } = {},
): Promise<string[]> {
  for (const endMs = Date.now() + withinMs; ; await sleep(3000)) {
    const after = await stateOf(lab, wasAway);
    const changed = [
      ...differences(before.objects, after.objects),
      ...differences(before.hosts, after.hosts),
    ].filter((line) => !except.test(line));
    if (changed.length === 0 || Date.now() > endMs) return changed;
  }
}
