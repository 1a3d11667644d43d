/**
 * A small Kubernetes API in memory, with one class whose driver behaves as told: claims are bound and
 * pods run at once, writers say lines, attachments end. It notes every change that it is asked for.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attachmentName } from '../../lib/probe/objects.ts';
import {
  askedFor,
  driver,
  fixedObjects,
  type Attachment,
  type Behaviour,
  type Review,
  type Thing,
} from './fake-storage-objects.ts';

const everyMs = 20;
const nowMs = (): number => performance.timeOrigin + performance.now();
/** 0.4 of a watch of seven seconds, as plan.ts has it. */
const quietForMs = 2800;

type TaintPatch = readonly { readonly path: string; readonly value?: readonly object[] }[];

export class FakeStorageApi {
  readonly changes: string[] = [];
  /** So many requests end without an answer. */
  drops = 0;
  /** Of what is forbidden: whether it is allowed for what has a name. */
  granted = false;
  readonly things = new Map<string, Thing>();
  /** Node → its taints. */
  readonly taints = new Map<string, readonly object[]>();
  readonly #events: object[] = [];
  readonly #behaviour: Behaviour;
  readonly #server: Server;
  readonly #cutAtMs = new Map<string, number>();
  /** Attachment → the pod that waits for its end. */
  readonly #waiting = new Map<string, Thing>();
  /** A pod on the next node says its three lines once. */
  readonly #saidMs = new Map<string, number>();
  /** Writers that were deleted by force: when they end. */
  readonly #killAtMs = new Map<string, number>();
  /** Volume → the last slot that is written. */
  /** The youngest that was written, and when it was begun. */
  readonly #slot = new Map<string, { readonly seq: number; readonly begunMs: number }>();
  /** Of next pods that read more than once. */
  readonly #scans = new Map<string, string[]>();
  #uid = 0;

  constructor(behaviour: Behaviour) {
    this.#behaviour = behaviour;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', () => resolve()));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  add(path: string, more: Partial<Thing> = {}): Thing {
    const name = path.split('/').at(-1) ?? '';
    const metadata = { ...more.metadata, name, uid: `uid-${(this.#uid += 1)}` };
    const thing = { ...more, metadata };
    this.things.set(path, thing);
    return thing;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.drops > 0) {
      this.drops -= 1;
      return void request.socket.destroy();
    }
    const url = new URL(request.url ?? '', 'http://localhost');
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const path = url.pathname.replace(/^\/(api\/v1|apis\/[^/]+\/v1\w*)/, '');
    const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
    const answer = (status: number, value: unknown): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(value));
    const method = request.method ?? '';
    if (!this.granted && askedFor(method, path) === this.#behaviour.forbids) {
      return answer(403, { kind: 'Status', code: 403, message: 'it is forbidden' });
    }
    if (path.endsWith('/log')) return this.#log(path.replace(/\/log$/, ''), url, response);
    if (path === '/version') return answer(200, { gitVersion: 'v1.37.2' });
    if (path === '/selfsubjectaccessreviews') return answer(201, this.#review(body));
    if (path === '/selfsubjectreviews') {
      const username = 'system:serviceaccount:default:prober';
      return answer(201, { status: { userInfo: { username } } });
    }
    if (method === 'GET') return this.#read(path, url, answer);
    this.changes.push(`${method} ${path}`);
    if (method === 'PATCH') return answer(200, this.#taint(path, body as unknown as TaintPatch));
    if (method === 'POST') return answer(201, this.#create(path, body as unknown as Thing));
    if (!this.things.has(path)) return answer(404, { kind: 'Status', code: 404 });
    this.#remove(path);
    return answer(200, { kind: 'Status', status: 'Success' });
  }

  #taint(path: string, patch: TaintPatch): object {
    const value = patch.find((each) => each.path === '/spec/taints')?.value ?? [];
    this.taints.set(path.replace('/nodes/', ''), value);
    return {};
  }

  #review(body: Record<string, unknown> | undefined): object {
    const { verb, resource, subresource, name } = (body as unknown as Review).spec
      .resourceAttributes;
    const asked = `${verb} ${[resource, subresource].filter(Boolean).join('/')}`;
    const isGranted = this.granted && name !== undefined;
    return { spec: {}, status: { allowed: isGranted || asked !== this.#behaviour.forbids } };
  }

  #read(path: string, url: URL, answer: (status: number, value: unknown) => void): void {
    const fixed = fixedObjects(this.#behaviour, this.taints)[path];
    if (fixed !== undefined) return answer(200, fixed);
    const thing = this.things.get(path);
    if (thing !== undefined) return answer(200, thing);
    const isList =
      /\/(pods|persistentvolumeclaims|persistentvolumes|events|namespaces|volumeattachments)$/.test(
        path,
      );
    if (!isList) return answer(404, { kind: 'Status', code: 404 });
    const items = [...this.things].flatMap(([at, each]) =>
      at.startsWith(`${path}/`) && !at.slice(path.length + 1).includes('/') ? [each] : [],
    );
    const [label, value] = url.searchParams.get('labelSelector')?.split('=') ?? [];
    const chosen = items.filter(
      ({ metadata }) => label === undefined || metadata.labels?.[label] === value,
    );
    return answer(200, { items: path.endsWith('/events') ? this.#events : chosen });
  }

  #create(path: string, body: Thing): Thing {
    const made = this.add(`${path}/${body.metadata.name}`, body);
    if (path.endsWith('/persistentvolumeclaims')) this.#bind(made);
    if (path.endsWith('/pods')) this.#run(made);
    return made;
  }

  #bind(claim: Thing): void {
    const { name } = claim.metadata;
    if (claim.spec?.['volumeMode'] === 'Block' && this.#behaviour.refusesBlock === true) {
      const message = 'block volumes are not supported';
      this.#events.push({
        reason: 'ProvisioningFailed',
        message,
        involvedObject: { name },
        metadata: {},
      });
      return;
    }
    Object.assign(claim.spec ?? {}, { volumeName: `pv-${name}` });
    claim.status = { phase: 'Bound' };
    this.add(`/persistentvolumes/pv-${name}`, {
      spec: { csi: { driver, volumeHandle: `h-${name}` } },
      status: { phase: 'Bound' },
    });
  }

  #run(pod: Thing): void {
    const claim = pod.metadata.name.replace(/-[ab]$/, '');
    const node = pod.metadata.name.endsWith('-a') ? 'a' : 'b';
    const isBound = this.things.has(`/persistentvolumes/pv-${claim}`);
    Object.assign(pod.spec ?? {}, { nodeName: node });
    const isRefused = this.#behaviour.refusesNext === true && claim.startsWith('contested');
    if (!isBound) return;
    const holder = `/volumeattachments/${attachmentName(`h-${claim}`, driver, 'a')}`;
    if (node === 'b' && this.things.has(holder) && this.#behaviour.letsNextIn !== true) {
      const message = 'Waiting for detach for volume "x" Volume is already used by pod(s) a';
      const involvedObject = { name: pod.metadata.name };
      this.#events.push({ reason: 'FailedAttachVolume', message, involvedObject, metadata: {} });
      this.#waiting.set(holder, pod);
      return;
    }
    if (node === 'b' && isRefused) return;
    this.#attach(claim, node);
    pod.status = { phase: 'Running', containerStatuses: [{ state: { running: {} } }] };
  }

  #attach(claim: string, node: string): void {
    if (this.#behaviour.makesNoAttachments === true) return;
    const path = `/volumeattachments/${attachmentName(`h-${claim}`, driver, node)}`;
    this.add(path, {
      spec: { attacher: driver, nodeName: node, source: { persistentVolumeName: `pv-${claim}` } },
      status: { attached: true },
    });
  }

  #remove(path: string): void {
    const thing = this.things.get(path);
    if (thing === undefined || path === `/namespaces/${this.#behaviour.keeps}`) return;
    if (!path.startsWith('/volumeattachments/')) {
      for (const at of [...this.things.keys()]) if (at.startsWith(path)) this.things.delete(at);
      const [, claim] = /\/pods\/(.*)-a$/.exec(path) ?? [];
      const held = `/volumeattachments/${attachmentName(`h-${claim ?? ''}`, driver, 'a')}`;
      const attachment = this.things.get(held);
      const isForced = claim?.startsWith('force-deleted') === true;
      const { killsAfterMs = 100 } = this.#behaviour;
      if (isForced) this.#killAtMs.set(`${claim}-a`, nowMs() + killsAfterMs);
      const endMs = isForced ? Math.min(500, 2 * killsAfterMs) : 0;
      if (attachment !== undefined) setTimeout(() => this.#end(held, attachment), endMs);
      // Volumes go with their claims.
      const [, unclaimed] = /\/persistentvolumeclaims\/([^/]+)$/.exec(path) ?? [];
      if (unclaimed !== undefined) this.things.delete(`/persistentvolumes/pv-${unclaimed}`);
      if (/^\/namespaces\/[^/]+$/.test(path)) {
        for (const at of [...this.things.keys()]) {
          if (at.startsWith('/persistentvolumes/')) this.things.delete(at);
        }
      }
      return;
    }
    const { goneAfterMs, cutAfterMs } = this.#behaviour;
    thing.metadata.deletionTimestamp = new Date().toISOString();
    const volume = (thing as unknown as Attachment).spec.source.persistentVolumeName;
    this.#cutAtMs.set(volume, nowMs() + cutAfterMs);
    if (goneAfterMs !== Infinity) {
      setTimeout(() => this.#end(path, thing), goneAfterMs);
    }
  }

  #lose(volume: string): void {
    for (const [path, thing] of this.things) {
      const source = thing.spec?.['source'] as Partial<Attachment['spec']['source']> | undefined;
      if (source?.persistentVolumeName === volume) this.#end(path, thing);
    }
  }

  /** The next node is given the volume at once. */
  #end(path: string, thing: Thing): void {
    if (this.things.get(path) !== thing) return;
    this.things.delete(path);
    const next = this.#waiting.get(path);
    this.#waiting.delete(path);
    if (next !== undefined) this.#run(next);
  }

  /** Each time it is asked for it has read the disk once more. */
  #scanned(pod: string, volume: string): string {
    const now = nowMs();
    const said = this.#scans.get(pod) ?? [`1 start ${now} direct 9`];
    const { seq = 0, begunMs = now } = this.#slot.get(volume) ?? {};
    said.push(`${said.length + 1} scan ${now} 1 0-${seq} ${begunMs}`);
    if (said.length === 2) said.push(`3 ack 0 ${now} 1`);
    this.#scans.set(pod, said);
    return `${said.join('\n')}\n`;
  }

  #log(path: string, url: URL, response: ServerResponse): void {
    const pod = path.split('/').at(-1) ?? '';
    const volume = `pv-${pod.replace(/-[ab]$/, '')}`;
    const isGone = this.#killAtMs.has(pod) && !this.things.has(path);
    response.writeHead(isGone ? 404 : 200, { 'content-type': 'text/plain' });
    if (isGone) return void response.end();
    if (pod.startsWith('force-deleted') && pod.endsWith('-b')) {
      return void response.end(this.#scanned(pod, volume));
    }
    if (pod.endsWith('-b')) {
      const now = this.#saidMs.get(pod) ?? nowMs();
      this.#saidMs.set(pod, now);
      response.end(`1 start ${now} direct 9\n2 scan ${now} 1 0-9999\n3 ack 0 ${now} 1\n`);
      return;
    }
    let [seq, number, quietUntilMs] = [-1, 0, 0];
    let isLoud = false;
    const isIdle = pod.startsWith('idle');
    const lines = (): string[] => {
      const now = nowMs();
      if (now < quietUntilMs) return [];
      if (now >= (this.#killAtMs.get(pod) ?? Infinity)) return [];
      const said = (words: string): string => `${(number += 1)} ${words}\n`;
      if (number === 0) return [said(`start ${now} direct 999`)];
      if (isIdle && seq === 50 && !isLoud) {
        if (quietUntilMs === 0) {
          quietUntilMs = now + quietForMs;
          return [said(`quiet ${now}`)];
        }
        isLoud = true;
        return [said(`loud ${now}`)];
      }
      seq += 1;
      this.#slot.set(volume, { seq, begunMs: now });
      if (this.#behaviour.losesAttachments === true && seq === 58) this.#lose(volume);
      const cut = now >= (this.#cutAtMs.get(volume) ?? Infinity);
      return [said(`${cut ? 'err' : 'ack'} ${seq} ${now} 0.5${cut ? ' EIO' : ''}`)];
    };
    if (url.searchParams.get('follow') !== 'true') return void response.end();
    const timer = setInterval(() => lines().forEach((line) => response.write(line)), everyMs);
    response.on('close', () => clearInterval(timer));
  }
}
