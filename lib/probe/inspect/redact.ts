/** A folder that can be sent: the records that count, with every word replaced that is neither Kubernetes’ nor a program’s own. */
import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { UsageError } from '../../core/index.ts';
import { driversCalled } from '../../scenario/index.ts';
import { linesIn, packingOf } from './files.ts';
import { type Incident, attachmentName } from './incident.ts';
import type { Collected } from './read.ts';

/** Fields of objects and requests that are kept, with their values; all others are left out. */
const fields = new Set(
  `apiVersion kind items metadata name namespace uid creationTimestamp deletionTimestamp
  deletionGracePeriodSeconds spec nodeName volumeName storageClassName accessModes csi driver drivers
  volumeHandle claimRef source persistentVolumeName attacher attachRequired taints key effect timeAdded
  volumes persistentVolumeClaim claimName readOnly hostPath path containers image args command env value
  unschedulable topologyKeys provisioner parameters mountOptions status conditions type reason
  lastTransitionTime lastHeartbeatTime containerStatuses state running lastState terminated startedAt
  volumesAttached volumesInUse message firstTimestamp lastTimestamp eventTime reportingComponent
  reportingInstance involvedObject component host level stage verb user username sourceIPs userAgent
  objectRef resource subresource responseStatus code requestObject gracePeriodSeconds preconditions
  deleteOptions requestReceivedTimestamp op finalizers labels`.split(/\s+/),
);
/** Their keys are names, too. */
const maps = new Set(['labels', 'parameters']);
/** Their values are the API’s own words. */
const enumerated = new Set([
  'kind',
  'type',
  'reason',
  'status',
  'effect',
  'accessModes',
  'level',
  'stage',
]);

/** The words that Kubernetes, databases and kernels put around names. */
const vocabulary = `List Request RequestResponse Metadata ResponseComplete create delete deletecollection
  patch update add replace remove pods nodes volumeattachments binding eviction true false
  system node serviceaccount masters kube-system default kube-node-lease kube-public kubernetes io csi
  apiserver kube-apiserver kube-controller-manager kube-scheduler default-scheduler kubelet kubectl linux
  amd64 arm64 attachdetach-controller persistentvolume-attach-detach-controller node-controller
  node-lifecycle-controller pod-garbage-collector taint-eviction-controller taint-manager
  statefulset-controller replicaset-controller csi-attacher external-attacher attacher
  out-of-service unreachable not-ready unschedulable node-role control-plane master etcd hostname
  topology zone region storage v1beta1 audit k8s
  ts caller msg v err log stream time logger volume pod node nodeName podName volumeName volumeSpec
  VolumeAttachment attachment PersistentVolume driver UniqueName UID
  operationexecutor operation_generator reconciler go csi_handler operation generator handler
  AttachVolume DetachVolume MountVolume UnmountDevice MountDevice SetUp WaitForAttach Attach Detach
  attacherDetacher started succeeded failed for from on to device mount this is not safe to detach but
  maxWaitForUnmountDuration timeout expired force detaching Successfully assigned bound
  successfully acquired lease became leader Attached attached Detached detached fully
  var lib log usr sbin bin plugins devicePath globalmount pv
  stdout stderr F P System ERROR Error Warning Note Server InnoDB mysqld mysql mariadbd ready connections
  Version socket port starting as process initialization of in progress Shutdown complete with
  LOG PANIC FATAL WARNING UTC GMT database system was shut down at accept PostgreSQL postgres postgresql
  checkpoint wrote buffers could write fsync extend read open file
  Linux version kernel Kernel I O error dev sector EXT4-fs XFS metadata shutdown Remounting filesystem
  read-only read only
  Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun
  json yaml yml gz zst txt err dmesg events dump dumps objects volumes attachments
  volumeattachments containers previous controller-manager containerd`;

const sign = String.raw`[\p{L}\p{N}\p{M}]`;
/** A time stays as it is. An address is one word, and so is what hyphens join. */
const token = new RegExp(
  [
    String.raw`(?<time>\d{4}-\d\d-\d\d(?:[T ]\d\d[:-]\d\d[:-]\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)(?!${sign})`,
    String.raw`(?<clock>[IWEF]\d{4}(?= \d\d:)|\d\d:\d\d:\d\d(?:\.\d+)?(?!:)|20\d{6}(?:-\d{6})?|\d+\.\d{6}(?=\]))(?!${sign})`,
    String.raw`(?<four>\d{1,3}(?:\.\d{1,3}){3})(?!\.?\d|${sign})`,
    String.raw`(?<six>[\da-fA-F]*(?::[\da-fA-F]*){2,})(?!${sign})`,
    String.raw`(?<word>${sign}+(?:-(?!\d{4}-\d\d-\d\d)${sign}+)*)`,
  ]
    .map((each) => `(?<!${sign})${each}`)
    .join('|'),
  'gu',
);

const hexOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The same word is replaced alike everywhere, two never by one: what was equal, or a part of a path, stays so. */
class Words {
  readonly #made = new Map<string, string>();
  readonly #kept = new Set([...vocabulary.split(/\s+/), ...fields]);
  /** Names that a file’s name may have between hyphens. */
  readonly #inner: readonly string[];

  constructor({ objects }: Collected, { volumes, nodes }: Incident) {
    const drivers = objects.flatMap(({ object }) => [
      object['provisioner'],
      object.spec?.csi?.driver,
    ]);
    const rows = [...new Set(drivers)].flatMap((name) =>
      driversCalled(typeof name === 'string' ? name : ''),
    );
    for (const { csi, provisioners } of rows)
      for (const name of [...csi, ...provisioners]) this.#keep(name);
    const signs = rows.flatMap((row) => [
      ...row.signs,
      ...(row.onlyIf === undefined || row.onlyIf === 'unread' ? [] : [row.onlyIf]),
    ]);
    for (const setting of signs.length === 0
      ? []
      : objects.flatMap(({ object }) => settingsIn(object)))
      for (const { matches } of signs) this.#keep(matches.exec(setting)?.[0] ?? '');
    const named = objects.flatMap(({ object: { kind, metadata, involvedObject: about } }) => [
      ...(kind === 'Pod' ? [metadata.name, metadata.uid] : []),
      ...[about?.name, about?.uid],
    ]);
    this.#inner = [...new Set([...nodes, ...named])]
      .filter((name): name is string => name !== undefined && name !== '')
      .toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
    for (const node of nodes) this.#word(node, 'node');
    for (const { name, handle } of volumes.values()) {
      this.#word(name, 'pv');
      // The attachment’s name is computed from those of its volume and node.
      if (handle !== undefined)
        for (const node of nodes)
          this.#made.set(
            attachmentName(handle, node),
            attachmentName(this.text(handle), this.text(node)),
          );
    }
  }

  #keep(text: string): void {
    for (const [word] of text.matchAll(token)) this.#kept.add(word);
  }

  text(text: string): string {
    return text.replace(token, (found, ...more) => {
      const { time, clock, four, six } = more.at(-1) as Partial<Record<string, string>>;
      if (time !== undefined || clock !== undefined) return found;
      if (four !== undefined)
        return this.#once(found, (n) => `198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`);
      if (six !== undefined) return this.#once(found, (n) => `2001:db8::${n.toString(16)}`);
      return this.#word(found);
    });
  }

  #once(found: string, make: (nth: number) => string): string {
    const made = this.#made.get(found) ?? make(this.#made.size);
    this.#made.set(found, made);
    return made;
  }

  #word(found: string, kind = 'name'): string {
    if (this.#kept.has(found) || /^(v?\d{1,5}|MY-\d{6})$/.test(found)) return found;
    const known = this.#made.get(found);
    if (known !== undefined) return known;
    const [, stem, ordinal] = ordinalOf.exec(found) ?? [];
    if (stem !== undefined) return `${this.#word(stem)}-${ordinal}`;
    const inner = this.#inner.find((each) => each !== found && `-${found}-`.includes(`-${each}-`));
    if (inner !== undefined) {
      const at = `-${found}-`.indexOf(`-${inner}-`);
      const around = [
        found.slice(0, Math.max(0, at - 1)),
        inner,
        found.slice(at + inner.length + 1),
      ];
      return around
        .filter((part) => part !== '')
        .map((part) => this.#word(part))
        .join('-');
    }
    return this.#once(found, (nth) => {
      if (/^\d+$/.test(found)) return String(900_000 + nth);
      if (/^csi-[\da-f]{64}$/.test(found)) return `csi-${hexOf(String(nth))}`;
      return `${found.includes('attacher') ? 'attacher' : kind}-${lettersOf(nth)}`;
    });
  }

  /** Of an object: with its fields that count. Of a line of a log: with all. */
  value(value: unknown, isLog: boolean, key = ''): unknown {
    if (typeof value === 'string')
      return enumerated.has(key) && /^[A-Z][A-Za-z]+$/.test(value) ? value : this.text(value);
    if (typeof value === 'number') return key === 'ts' ? value : Number(this.text(String(value)));
    if (Array.isArray(value)) return value.map((each) => this.value(each, isLog, key));
    if (typeof value !== 'object' || value === null) return value;
    const isMap = isLog || maps.has(key);
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => isMap || fields.has(name))
        .map(([name, each]) => [isMap ? this.text(name) : name, this.value(each, isLog, name)]),
    );
  }

  line(line: string): string {
    if (!line.startsWith('{')) return this.text(line);
    try {
      const isAudit = line.startsWith('{"kind":"Event"');
      return JSON.stringify(this.value(JSON.parse(line), !isAudit));
    } catch {
      return this.text(line);
    }
  }
}

/** A StatefulSet’s pod, a rotated file. */
const ordinalOf = /^(\d*\p{L}[\p{L}\p{N}]*(?:-\d*\p{L}[\p{L}\p{N}]*)*)-(\d{1,3})$/u;

/** No digits: the name of a rotated file ends in some. */
const lettersOf = (nth: number): string =>
  [26 ** 3, 26 ** 2, 26, 1]
    .map((unit) => String.fromCharCode(97 + (Math.floor(nth / unit) % 26)))
    .join('');

/** Each text, and each pair as `key=value`. */
function settingsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const pairs = Object.entries(value).flatMap(([key, each]) =>
    typeof each === 'string' ? [`${key}=${each}`] : [],
  );
  const { name, value: set } = value as { readonly name?: unknown; readonly value?: unknown };
  return [...pairs, `${String(name)}=${String(set)}`, ...Object.values(value).flatMap(settingsIn)];
}

/** Makes the folder `out`, and nothing elsewhere. Throws UsageError `OUT_UNUSABLE`. */
export async function redactFolder(
  folder: string,
  out: string,
  collected: Collected,
  incident: Incident,
): Promise<void> {
  try {
    mkdirSync(out);
  } catch (cause) {
    throw new UsageError('OUT_UNUSABLE', `cannot make the folder ${out}`, {
      hint: 'give a path where nothing is yet, in a folder that you may write to',
      cause,
    });
  }
  const words = new Words(collected, incident);
  const { requests, component, server, kernel, objects } = collected;
  const places = [...requests, ...component, ...server, ...kernel].map(({ place }) => place);
  const linesOf = Map.groupBy(places, ({ file }) => file);
  const objectsOf = Map.groupBy(objects, ({ place }) => place.file);
  for (const { file, records } of collected.files) {
    if (records === 0) continue;
    const path = join(out, words.text(file));
    mkdirSync(dirname(path), { recursive: true });
    const dumped = objectsOf.get(file);
    const counted = new Set(linesOf.get(file)?.map(({ line }) => line));
    const content =
      dumped === undefined
        ? redacted(join(folder, file), counted, words)
        : [dumpOf(dumped.map(({ object }) => words.value(object, false)))];
    const packer = { gzip: createGzip, zstd: createZstdCompress, none: () => new PassThrough() };
    await pipeline(
      Readable.from(content),
      packer[packingOf(join(folder, file)) ?? 'none'](),
      createWriteStream(path, { flags: 'wx' }),
    );
  }
}

const dumpOf = (items: readonly unknown[]): string =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 4)}\n`;

/** Each line that counts; the others are empty, so that each is where it was. */
async function* redacted(
  path: string,
  counted: ReadonlySet<number>,
  words: Words,
): AsyncGenerator<string> {
  let line = 0;
  try {
    for await (const texts of linesIn(path))
      yield texts.map((text) => `${counted.has(++line) ? words.line(text) : ''}\n`).join('');
  } catch {
    // The inspection lists where it ends early.
  }
}
