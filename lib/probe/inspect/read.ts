/** What an incident’s files hold: requests, log lines, objects. Each file is known by what is in it, and each record by its place. */
import { join } from 'node:path';
import { mebibyte } from '../../core/index.ts';
import { type AuditRequest, auditRequest, managerLine } from '../../history/index.ts';
import { type ReadObject, checkedObject, itemsIn, linesOfUids } from './objects.ts';
import { type Place, filesIn, linesIn, streamOf, unwrapped } from './files.ts';

interface Placed {
  readonly place: Place;
  /** Unix ms, by the clock of the program that wrote it. */
  readonly atMs: number;
}

/** A line of a component of Kubernetes, or of a CSI driver’s sidecar. */
export interface ComponentLine extends Placed {
  readonly is: keyof typeof componentLines;
  readonly text: string;
  /** Of the volume: its PersistentVolume, and `driver^handle`. */
  readonly volume: string | undefined;
  readonly handle: string | undefined;
  readonly node: string | undefined;
  readonly attachment: string | undefined;
  readonly pod: string | undefined;
  /** By the journal that it was in. */
  readonly host: string | undefined;
}

/** A line of a database’s error log. */
export interface ServerLine extends Placed {
  readonly is: 'started' | 'ready' | 'wrote' | 'stopped' | 'failed';
  readonly stream: string;
  readonly host: string | undefined;
}

/** A kernel started. */
interface Boot extends Placed {
  readonly host: string | undefined;
}

export interface Dumped {
  readonly object: ReadObject;
  readonly place: Place;
}

export interface FileRead {
  readonly file: string;
  readonly is: Form | 'empty';
  /** That count for an incident. */
  readonly records: number;
}

export interface Collected {
  readonly requests: readonly (AuditRequest & { readonly place: Place })[];
  readonly component: readonly ComponentLine[];
  readonly server: readonly ServerLine[];
  readonly boots: readonly Boot[];
  readonly objects: readonly Dumped[];
  readonly files: readonly FileRead[];
  /** What is damaged, cut or foreign, and where. */
  readonly trouble: readonly (Place & { readonly what: string })[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

const nothing = (): Mutable<Collected> => ({
  ...{ requests: [], component: [], server: [], boots: [], objects: [], files: [], trouble: [] },
});

/** Throws UsageError `FOLDER_UNREADABLE`. */
export async function collect(folder: string): Promise<Collected> {
  const parts: Collected[] = [];
  for (const file of filesIn(folder)) parts.push(await collectFile(folder, file));
  return together(parts);
}

/** One that cannot be read is listed as trouble. */
export async function collectFile(folder: string, file: string): Promise<Collected> {
  const all = nothing();
  const reader = new FileReader(file, all);
  let line = 0;
  let damage: string | undefined;
  try {
    reading: for await (const texts of linesIn(join(folder, file)))
      for (const text of texts) if (!reader.take(text, ++line)) break reading;
  } catch (error) {
    damage = `it ends early: ${error instanceof Error ? error.message : '?'}`;
  }
  reader.end(line, damage);
  return all;
}

export function together(parts: readonly Collected[]): Collected {
  const all = nothing();
  for (const key of Object.keys(all) as (keyof Collected)[])
    for (const part of parts) for (const each of part[key]) all[key].push(each as never);
  return { ...all, ...dated(all) };
}

/** A dump larger than this is not parsed: it must be in memory as a whole. */
const largest = { json: 64 * mebibyte, yaml: 16 * mebibyte } as const;

type Form = 'audit' | 'json' | 'yaml' | 'log' | 'foreign';

class FileReader {
  readonly #file: string;
  readonly #all: Mutable<Collected>;
  #form: Form | undefined;
  readonly #dump: string[] = [];
  #dumpLength = 0;
  #records = 0;
  /** Lines of a known form. */
  #known = 0;
  #failures = 0;

  constructor(file: string, all: Mutable<Collected>) {
    this.#file = file;
    this.#all = all;
  }

  take(text: string, line: number): boolean {
    this.#form ??= text.trim() === '' ? undefined : formOf(text);
    const form = this.#form;
    if (form === 'audit') this.#request(text, line);
    if (form === 'log') this.#log(text, line);
    if (form !== 'json' && form !== 'yaml') return form !== 'foreign';
    this.#dump.push(text);
    this.#dumpLength += text.length;
    return this.#dumpLength <= largest[form];
  }

  end(lines: number, damage: string | undefined): void {
    if (damage !== undefined) this.#trouble(lines + 1, damage);
    if (this.#form === 'json' || this.#form === 'yaml') this.#objects(this.#form);
    if (this.#form === 'log' && this.#known === 0) this.#form = 'foreign';
    if (this.#form === 'foreign')
      this.#trouble(1, 'it is no file of an incident: nothing of it is read');
    const is = this.#form ?? 'empty';
    this.#all.files.push({ file: this.#file, is, records: this.#records });
  }

  #trouble(line: number, what: string): void {
    this.#all.trouble.push({ file: this.#file, line, what });
  }

  #request(text: string, line: number): void {
    if (text === '') return;
    if (!isWholeObject(text)) {
      // Each cut line may be one that counts.
      if (++this.#failures <= troubleShown) this.#trouble(line, 'the line is cut or damaged');
      return;
    }
    if (!counts.test(text) || statusPatch.test(text)) return;
    const request = auditRequest(text);
    if (request === undefined) return;
    this.#records += 1;
    this.#all.requests.push({ ...request, place: { file: this.#file, line } });
  }

  #log(text: string, line: number): void {
    const place = { file: this.#file, line };
    const { text: own, wallMs, host } = unwrapped(text);
    const written = componentStamp(own, wallMs);
    if (written !== undefined) {
      this.#known += 1;
      const found = componentLine(written.text, { ...written, place, host });
      if (found !== undefined) this.#keep(this.#all.component, found);
      return;
    }
    const server = serverLine(own);
    if (server !== undefined) {
      this.#known += 1;
      const { is, atMs } = server;
      if (is === undefined || (is === 'failed' && ++this.#failures > failuresKept)) return;
      const stream = streamOf(this.#file);
      this.#keep(this.#all.server, { is, atMs, stream, place, host });
      return;
    }
    const [, time, kernel] = dmesg.exec(own) ?? [];
    if (kernel === undefined) return;
    this.#known += 1;
    const atMs = time === undefined ? wallMs : Date.parse(`${time} UTC`);
    if (kernel.startsWith('Linux version ') && atMs !== undefined)
      this.#keep(this.#all.boots, { atMs, place, host });
  }

  #keep<T>(list: T[], found: T): void {
    this.#records += 1;
    list.push(found);
  }

  #objects(form: 'json' | 'yaml'): void {
    const text = this.#dump.join('\n');
    if (this.#dumpLength > largest[form]) {
      this.#trouble(1, 'the dump is too large to be read: dump fewer kinds in one file');
      return;
    }
    const { items, problem } = itemsIn(text, form);
    if (problem !== undefined) this.#trouble(problem.line, `the dump ${problem.what}`);
    const lineOf = linesOfUids(this.#dump);
    for (const item of items) {
      const found = checkedObject(item);
      const line = lineOf.get(String(item.metadata?.uid)) ?? 1;
      if (found === undefined) continue;
      if ('problem' in found) this.#trouble(line, found.problem);
      else this.#keep(this.#all.objects, { ...found, place: { file: this.#file, line } });
    }
  }
}

const troubleShown = 5;
const failuresKept = 500;

function formOf(text: string): Form {
  if (text.includes('\0') || text.includes('\ufffd')) return 'foreign';
  if (text.startsWith('{"kind":"Event"') && text.slice(0, 80).includes('audit.k8s.io'))
    return 'audit';
  if (/^\{\s*$|^\{"(apiVersion|kind|items|metadata)"/.test(text)) return 'json';
  return /^(---|apiVersion:|kind:|items:|metadata:|- apiVersion:)/.test(text) ? 'yaml' : 'log';
}

const isWholeObject = (text: string): boolean =>
  text.startsWith('{"kind":"Event"') && text.trimEnd().endsWith('}');

/** Read as text first: most lines of an audit log are about something else. */
const counts = /"resource":"(?:pods|nodes|volumeattachments)"/;
const statusPatch =
  /"verb":"(?:get|list|watch)"|"stage":"(?:RequestReceived|ResponseStarted)"|"resource":"(?:nodes|pods)"[^}]*"subresource":"status"/;

// Lines of Kubernetes’ components.

const klog = /^[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{1,6})\s+\d+ [\w.-]+:\d+\] ?(.*)$/;

/** Its year is in no line: 1970, until the other records say which. */
export const yearless = Date.UTC(1971, 0);

function componentStamp(
  line: string,
  wallMs: number | undefined,
): { readonly text: string; readonly atMs: number } | undefined {
  if (line.startsWith('{"ts":')) return jsonStamp(line);
  const [, month, day, time, text] = klog.exec(line) ?? [];
  if (text === undefined) return undefined;
  const atMs = Date.parse(`1970-${month}-${day}T${time}Z`);
  return { text, atMs: wallMs === undefined ? atMs : inYearOf(atMs, wallMs) };
}

function jsonStamp(line: string): { readonly text: string; readonly atMs: number } | undefined {
  try {
    const { ts, msg, ...more } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    const pairs = Object.entries(more).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    const atMs = typeof ts === 'number' ? ts : Date.parse(String(ts));
    return { text: [JSON.stringify(String(msg)), ...pairs].join(' '), atMs };
  } catch {
    return undefined;
  }
}

/** The time in the year that brings it nearest to another. */
function inYearOf(atMs: number, nearMs: number): number {
  const year = new Date(nearMs).getUTCFullYear();
  const at = [year - 1, year, year + 1].map((each) => new Date(atMs).setUTCFullYear(each));
  return at.reduce((a, b) => (Math.abs(b - nearMs) < Math.abs(a - nearMs) ? b : a));
}

function dated(all: Collected): Pick<Collected, 'component'> {
  const near = [
    ...[...all.requests.map(({ wallMs }) => wallMs), ...all.server.map(({ atMs }) => atMs)],
    ...all.objects.map(({ object }) => Date.parse(object.metadata.creationTimestamp ?? '')),
  ].reduce((a, b) => (b > a ? b : a), yearless);
  const component = all.component.map((each) =>
    each.atMs < yearless && near > yearless ? { ...each, atMs: inYearOf(each.atMs, near) } : each,
  );
  return { component };
}

/** By a part of the message; the sources are Kubernetes’ own (see docs/how-to/inspect.md). */
export const componentLines = {
  // The controller manager. The first two: lib/history.
  'force-detach-log': /(?!)/,
  'leader-acquired': /(?!)/,
  'attach-done': /AttachVolume\.Attach succeeded/,
  'detach-done': /DetachVolume\.Detach succeeded/,
  // kubelet: pkg/volume/util/operationexecutor/operation_generator.go.
  'device-mounted': /MountVolume\.MountDevice succeeded/,
  'device-unmounted': /UnmountDevice succeeded/,
  'device-held': /operationExecutor\.UnmountDevice started/,
  'pod-mounted': /MountVolume\.SetUp succeeded/,
  // The external attacher: pkg/controller/csi_handler.go.
  'driver-attached': /\bAttached\b.*\bcsi-[0-9a-f]{64}/,
  'driver-detached': /\bDetached\b.*\bcsi-[0-9a-f]{64}/,
} as const;
const anyComponentLine = /etach|ttach|ountDevice|SetUp succeeded|lease|leader/;

function componentLine(
  raw: string,
  { atMs, place, host }: Placed & { readonly host: string | undefined },
): ComponentLine | undefined {
  if (!anyComponentLine.test(raw)) return undefined;
  const text = raw.replaceAll('\\"', '"');
  const known = managerLine(text) as 'force-detach-log' | 'leader-acquired' | undefined;
  const is =
    known ??
    (Object.keys(componentLines) as ComponentLine['is'][]).find((name) =>
      componentLines[name].test(text),
    );
  if (is === undefined) return undefined;
  const first = (pattern: RegExp): string | undefined => pattern.exec(text)?.[1];
  return {
    ...{ is, atMs, place, host, text },
    volume: first(/for volume "([^"]+)"/) ?? first(/\bvolume="?([^" ]+)/),
    handle: first(/kubernetes\.io\/csi\/([^"\s)]+\^[^"\s)]+)/),
    node: first(/(?:from|on) node "([^"]+)"/) ?? first(/\bnode="?([^" ]+)/),
    attachment: first(/\b(csi-[0-9a-f]{64})/),
    pod: first(/\(UID: "([^"]+)"\)/),
  };
}

// Lines of databases.

const mysqlLine =
  /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) \d+ \[(\w+)\] (?:\[MY-\d+\] )?(.*)$/;
const postgresLine =
  /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) (?:UTC|GMT) .*?\b(LOG|PANIC|FATAL|ERROR|WARNING): +(.*)$/;

/**
 * `wrote` and `stopped`: only a server whose writes its disk has answered reports them. A server that has failed
 * may end in the same words.
 */
const serverSigns: readonly (readonly [ServerLine['is'], RegExp])[] = [
  ['started', /starting as process|starting PostgreSQL|initialization .*in progress/],
  ['ready', /mysqld: ready for connections|database system is ready to accept connections/],
  ['stopped', /mysqld: Shutdown complete|database system is shut down/],
  ['wrote', /checkpoint complete: wrote [1-9]/],
];

function serverLine(
  line: string,
): { readonly is: ServerLine['is'] | undefined; readonly atMs: number } | undefined {
  const [, time, level = '', text = ''] = mysqlLine.exec(line) ?? postgresLine.exec(line) ?? [];
  if (time === undefined) return undefined;
  const atMs = Date.parse(time.includes('T') ? time : `${time.replace(' ', 'T')}Z`);
  const sign = serverSigns.find(([, pattern]) => pattern.test(text))?.[0];
  // An ERROR of PostgreSQL may be a statement’s. After an immediate shutdown it ends in the words of a clean one.
  const isFailure = time.includes('T')
    ? level === 'ERROR'
    : level === 'PANIC' ||
      /could not (write|fsync|extend|read|open file)|immediate shutdown|lock file "postmaster/.test(
        text,
      );
  return { is: isFailure ? 'failed' : sign, atMs };
}

/** A line of a kernel’s log. */
const dmesg = /^\[(?:(\w{3} \w{3} [ \d]\d [\d:]+ \d{4})|\s*\d+\.\d+)\] (.*)$/;
