/**
 * What an operator could have collected after a run: the API server’s audit log, the controller manager’s log,
 * dumps, events, logs of kubelets and of the database. Neither our log of writes, nor journals, nor our driver’s
 * calls. Lines of audit log, controller manager and database are the run’s own; the rest is written again in
 * Kubernetes’ form from what the API’s observer recorded.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import {
  type History,
  type ObservationRecord,
  type SmallRecord,
  csiCalls,
  isGranted,
  observationsOf,
  observed,
} from '../../lib/history/index.ts';

const driver = 'disk.forcedetach.dev';

/** Files by their paths from the folder. */
export type Folder = Readonly<Record<string, string | Buffer>>;

export function writeFolder(folder: string, files: Folder): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }
}

/** Paths and contents of all files. */
export const textOf = (path: string): string =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      if (!entry.isFile()) return file.slice(path.length);
      const content = readFileSync(file);
      return `${file.slice(path.length)}\n${(file.endsWith('.gz') ? gunzipSync(content) : content).toString()}`;
    })
    .join('\n');

/** Without its part of a second, as metav1.Time has it. */
const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

class Run {
  readonly records: readonly SmallRecord[];
  readonly seen: readonly ObservationRecord[];
  readonly endMs: number;
  readonly namespace: string;
  readonly handle: string;
  readonly accessMode: string;
  readonly volume: string;
  readonly beganMs: number;
  /** When the observer of the API began, with a list of what was there. */
  readonly listedAtMs: number;

  constructor(history: History) {
    this.records = [...history.smallRecords()];
    this.seen = this.records
      .filter((record) => record.type === 'observation')
      .toSorted((a, b) => a.t - b.t);
    this.endMs = this.wall(this.records.at(-1)?.t ?? 0);
    this.listedAtMs = this.seen.find(({ source }) => source === 'api')?.t ?? 0;
    const setup = this.records.find((record) => record.type === 'setup');
    const run = this.records.find((record) => record.type === 'run');
    this.handle = setup?.volume?.volume ?? '?';
    this.accessMode = run?.scenario.volume.accessMode ?? 'ReadWriteOnce';
    this.volume = this.of('attachment-created')[0]?.data.volume ?? 'pv';
    // On a cluster that was kept there are events of runs before it.
    const scheduled = this.of('event').filter(({ data }) => data.reason === 'Scheduled');
    const namespaceOf = (each: (typeof scheduled)[number] | undefined): string | undefined =>
      / assigned ([^/]+)\//.exec(each?.data.message ?? '')?.[1];
    this.namespace = namespaceOf(scheduled.at(-1)) ?? 'default';
    const first = scheduled.find(
      (each) => namespaceOf(each) === this.namespace && (each.data.atMs ?? 0) > this.wall(0),
    );
    this.beganMs = (first?.data.atMs ?? this.wall(0)) - 1000;
  }

  of = <Name extends ObservationRecord['name']>(...names: readonly Name[]) =>
    observationsOf(this.seen, ...names);

  /** Unix ms. */
  wall(t: number): number {
    const { wall = 0, t: at = 0 } = this.records.find((record) => record.wall !== undefined) ?? {};
    return wall + (t - at);
  }

  time = (t: number): string => time(this.wall(t));

  /** The pod of that node by then. An event of before the run is about another of its name. */
  pod(t: number, node?: string): { readonly uid: string; readonly pod: string } | undefined {
    if (this.wall(t) < this.beganMs) return { uid: `earlier-on-${node}`, pod: 'mysql-0' };
    const bound = this.of('pod-scheduled').filter(
      (each) => node === undefined || each.node === node,
    );
    return (bound.findLast((each) => each.t <= t) ?? bound[0])?.data;
  }
}

/** Every file that there is something for. */
export function incidentFolder(history: History): Folder {
  const run = new Run(history);
  const list = (items: readonly object[]) => ({
    apiVersion: 'v1',
    kind: 'List',
    metadata: { resourceVersion: '' },
    items,
  });
  const json = (items: readonly object[]): string =>
    `${JSON.stringify(list(items), undefined, 4)}\n`;
  return {
    ...auditFiles(run),
    'control-plane/kube-controller-manager.log': run
      .of('leader-acquired', 'force-detach-log')
      .map(({ data }) => `${data.line}\n`)
      .join(''),
    'dumps/nodes.yaml': stringify(list(nodes(run))),
    'dumps/pods.json': json(pods(run)),
    'dumps/volumes.yaml': stringify(list(volumes(run))),
    'dumps/volumeattachments.json': json(attachments(run)),
    'dumps/events.json': json(events(run)),
    ...kubeletLogs(run),
    ...serverLogs(run),
  };
}

/** In two pieces, as the API server rotates it: the older one is compressed. */
function auditFiles(run: Run): Folder {
  const own = new Set<unknown>(run.of('attachment-created').map(({ data }) => data.attachment));
  const lines = run.of('api-request').map(({ t, data }) => {
    const { verb, resource, object: name, namespace, user, agent: userAgent, code } = data;
    const [first, subresource] = resource.split('/');
    const body = {
      ...(data.gracePeriodS !== undefined && { gracePeriodSeconds: data.gracePeriodS }),
      ...(data.uid !== undefined && { preconditions: { uid: data.uid } }),
      ...(data.taints !== undefined && {
        spec: { taints: taintsAsked(run, t, name, data.taints) },
      }),
      // Those of runs beside this one: their volumes are in no dump of it.
      ...(first === 'volumeattachments' && verb === 'create' && !own.has(name)
        ? { spec: { source: { persistentVolumeName: `of ${name}` }, nodeName: 'another' } }
        : {}),
    };
    const entry = {
      ...{
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Request',
        stage: 'ResponseComplete',
      },
      ...{ verb, user: { username: user }, userAgent },
      objectRef: { resource: first, namespace, name, subresource },
      responseStatus: { metadata: {}, code },
      ...(Object.keys(body).length > 0 && { requestObject: body }),
      requestReceivedTimestamp: new Date(run.wall(t)).toISOString(),
    };
    return `${JSON.stringify(entry)}\n`;
  });
  const older = lines.slice(0, Math.floor(lines.length / 2));
  if (lines.length === 0) return {};
  return {
    'control-plane/audit-2026-11-27T00-00-00.000.log.gz': gzipSync(older.join('')),
    'control-plane/audit.log': lines.slice(older.length).join(''),
  };
}

/** With the effects that the node then had. */
function taintsAsked(
  run: Run,
  t: number,
  node: string | undefined,
  keys: readonly string[],
): object[] {
  const then = run.of('node-taints').find((each) => each.node === node && each.t >= t);
  const had = (then?.data.taints ?? []).map((taint) => taint.split(':'));
  return keys.map((key, index) => {
    const same = had.filter(([each]) => each === key);
    const nth = keys.slice(0, index).filter((each) => each === key).length;
    return { key, effect: same[nth]?.[1] ?? 'NoSchedule' };
  });
}

const last = <T extends ObservationRecord>(all: readonly T[], node: string): T | undefined =>
  all.findLast((each) => each.node === node);

function nodes(run: Run): object[] {
  const names = new Set(run.of('node-ready').flatMap(({ node }) => node ?? []));
  return [...names].map((name) => {
    const ready = last(run.of('node-ready'), name);
    const taints = last(run.of('node-taints'), name);
    const attached = last(run.of('volumes-attached'), name)?.data.volumes ?? [];
    const beat = new Date(run.endMs).toISOString();
    return {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `node-${name}` } },
      spec: {
        taints: (taints?.data.taints ?? []).map((taint) => {
          const [key, effect] = taint.split(':');
          return {
            key,
            effect,
            ...(effect === 'NoExecute' && { timeAdded: run.time(taints?.t ?? 0) }),
          };
        }),
      },
      status: {
        conditions: [
          {
            ...{ type: 'Ready', ...ready?.data },
            lastHeartbeatTime: beat,
            lastTransitionTime: run.time(ready?.t ?? 0),
          },
        ],
        volumesAttached: attached.map((each) => ({ name: each, devicePath: '' })),
        volumesInUse: last(run.of('volumes-in-use'), name)?.data.volumes ?? [],
      },
    };
  });
}

function pods(run: Run): object[] {
  const gone = new Set(run.of('pod-gone').map(({ data }) => data.uid));
  return run
    .of('pod-created')
    .filter(({ data }) => !gone.has(data.uid))
    .map(({ t, data: { uid, pod: name } }) => {
      const bound = run.of('pod-scheduled').find(({ data }) => data.uid === uid);
      return {
        ...{ apiVersion: 'v1', kind: 'Pod' },
        metadata: { name, namespace: run.namespace, uid, creationTimestamp: run.time(t) },
        spec: {
          ...(bound?.node !== undefined && { nodeName: bound.node }),
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        },
        status: {
          conditions: [
            {
              type: 'PodScheduled',
              status: bound ? 'True' : 'False',
              lastTransitionTime: run.time(bound?.t ?? t),
            },
          ],
        },
      };
    });
}

const volumes = (run: Run): object[] => [
  {
    ...{
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: run.volume, uid: 'volume' },
    },
    spec: {
      accessModes: [run.accessMode],
      claimRef: { namespace: run.namespace, name: 'data' },
      csi: { driver, volumeHandle: run.handle },
    },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: driver, uid: 'driver' },
    spec: { attachRequired: true },
  },
];

/** One that the observer of the API found was made before: the run’s first event is nearer. */
function attachedMs(run: Run, t: number): number {
  if (t - run.listedAtMs > listedMs) return run.wall(t);
  const times = run
    .of('event')
    .flatMap(({ data }) => (data.reason === 'SuccessfulAttachVolume' ? (data.atMs ?? []) : []));
  return Math.min(run.wall(t), ...times.filter((ms) => ms >= run.beganMs));
}

function attachments(run: Run): object[] {
  const isGone = (name: string, t: number): boolean =>
    run.of('attachment-gone').some((each) => each.data.attachment === name && each.t >= t);
  return run
    .of('attachment-created')
    .filter(({ data, t }) => !isGone(data.attachment, t))
    .map(({ t, node, data: { attachment: name, volume } }) => ({
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment' },
      metadata: { name, uid: `of-${name}`, creationTimestamp: time(attachedMs(run, t)) },
      spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: volume } },
      status: { attached: true },
    }));
}

const listedMs = 5000;

function events(run: Run): object[] {
  const all = run.of('event');
  const keyOf = ({ node, data }: (typeof all)[number]): string =>
    JSON.stringify([node, data.object, data.reason, data.message, data.from]);
  return [...Map.groupBy(all, keyOf).values()].flatMap((same, index) => {
    const [first, final] = [same[0], same.at(-1)];
    if (first === undefined) return [];
    const { data, node, t } = first;
    const [kind, name = ''] = data.object.split('/');
    const atMs = data.atMs ?? run.wall(t);
    const createdMs = t - run.listedAtMs < listedMs ? atMs : run.wall(t);
    const target = / to (\S+)$/.exec(data.message ?? '')?.[1];
    const on = data.reason === 'Scheduled' ? target : data.from === 'kubelet' ? node : undefined;
    const at = t + (atMs - run.wall(t));
    const uid = run.pod(at, on)?.uid;
    const namespace = uid?.startsWith('earlier') ? 'earlier' : run.namespace;
    return [
      {
        ...{
          apiVersion: 'v1',
          kind: 'Event',
          type: data.type,
          reason: data.reason,
          message: data.message,
        },
        metadata: {
          name: `${name}.${index}`,
          namespace: kind === 'Pod' ? namespace : 'default',
          uid: `event-${index}`,
          creationTimestamp: time(createdMs),
        },
        involvedObject: { kind, name, ...(kind === 'Pod' && { namespace, uid }) },
        source: { component: data.from, ...(data.from === 'kubelet' && { host: node }) },
        ...{
          count: final?.data.count,
          firstTimestamp: time(atMs),
          lastTimestamp: time(final?.data.atMs ?? atMs),
        },
      },
    ];
  });
}

/** klog’s head: `I1127 20:35:35.628904    1234 file.go:1] `. */
function klog(ms: number, text: string): string {
  const [, month, day, time] = /-(\d\d)-(\d\d)T(\S+)Z/.exec(new Date(ms).toISOString()) ?? [];
  return `I${month}${day} ${time}000     812 operation_generator.go:600] ${JSON.stringify(text)}\n`;
}

function kubeletLogs(run: Run): Folder {
  const name = `for volume "${run.volume}" (UniqueName: "kubernetes.io/csi/${driver}^${run.handle}")`;
  const calls = run.seen.flatMap((seen): { node: string; line: string }[] => {
    const { node } = seen;
    if (node === undefined) return [];
    const ms = run.wall(seen.t + (seen.data.durationMs ?? 0));
    const { pod = 'mysql-0', uid = '?' } = run.pod(seen.t, node) ?? {};
    if (isGranted(csiCalls.stage)(seen)) {
      const text = `MountVolume.MountDevice succeeded ${name} pod "${pod}" (UID: "${uid}") device mount path "/var/lib/kubelet/plugins"`;
      return [{ node, line: klog(ms, text) }];
    }
    if (!isGranted(csiCalls.unstage)(seen)) return [];
    return [{ node, line: klog(ms, `UnmountDevice succeeded ${name} on node "${node}" `) }];
  });
  return Object.fromEntries(
    [...Map.groupBy(calls, ({ node }) => node)].map(([node, lines]) => [
      `${node}/kubelet.log`,
      lines.map(({ line }) => line).join(''),
    ]),
  );
}

/** As kubelet keeps them below /var/log/pods. */
function serverLogs(run: Run): Folder {
  const files = Map.groupBy(run.of(observed.serverLog), ({ t, node = '?' }) => {
    const { pod = 'mysql-0', uid = '?' } = run.pod(t, node) ?? {};
    return `${node}/pods/${run.namespace}_${pod}_${uid}/mysql/0.log`;
  });
  return Object.fromEntries(
    [...files].map(([file, lines]) => [
      file,
      lines
        .map(({ t, data }) => `${new Date(run.wall(t)).toISOString()} stderr F ${data.line}\n`)
        .join(''),
    ]),
  );
}
