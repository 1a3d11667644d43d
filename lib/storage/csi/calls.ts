/**
 * Calls that fail or last, as those of a driver do whose backend hangs, or whose machine is gone: a folder on
 * the shared directory says how those about a volume are answered, until it is taken away.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { csiCalls, type CallName } from '../../core/index.ts';
import { type Absence, CallBook } from '../../scenario/index.ts';
import { type Around, CallError, type CallNotes } from './grpc.ts';
import { checkedName, isName, type Layout } from './layout.ts';

const folderOf = ({ root }: Layout, volume = ''): string =>
  join(root, 'calls', ...(volume === '' ? [] : [checkedName('volume', volume)]));
const rulesOf = (layout: Layout, volume: string): string => join(folderOf(layout, volume), 'rules');
/** One for each process, so that they need no lock. */
const pastOf = (layout: Layout, volume: string, host: string): string =>
  join(folderOf(layout, volume), `${host}.json`);

/** From now on; what came before counts no more. `rules`: as a scenario has them. */
export async function answerCalls(layout: Layout, volume: string, rules: string): Promise<void> {
  await letGo(layout, volume);
  await mkdir(folderOf(layout, volume), { recursive: true });
  await writeFile(rulesOf(layout, volume), rules);
}

/** All that waits goes on, of all volumes where none is named. Idempotent. */
export async function letGo(layout: Layout, volume?: string): Promise<void> {
  await rm(folderOf(layout, volume), { recursive: true, force: true });
}

interface AnswerOptions {
  readonly layout: Layout;
  /** Where the driver runs. */
  readonly host: string;
  readonly isGone: (what: Absence, node: string) => Promise<boolean>;
}

/** Answers a call as it was declared, in place of the work or before it; its notes say how. */
export const asDeclared =
  (options: AnswerOptions, around: Around): Around =>
  (call, work) =>
    around(call, async (notes) => {
      const { volumeId, nodeId } = call.request as Readonly<Record<string, unknown>>;
      const name = callNames.get(call.name);
      if (name === undefined || typeof volumeId !== 'string' || !isName(volumeId))
        return work(notes);
      const node = typeof nodeId === 'string' ? nodeId : options.host;
      await hold({ ...options, name, volume: volumeId, node, signal: call.signal, notes });
      const answer = await work(notes);
      update(options, volumeId, (book) => book.done(name, node));
      return answer;
    });

const callNames = new Map(
  Object.entries(csiCalls).map(([name, rpc]) => [rpc as string, name as CallName]),
);

interface HeldCall extends AnswerOptions {
  readonly name: CallName;
  readonly volume: string;
  readonly node: string;
  readonly signal: AbortSignal;
  readonly notes: CallNotes;
}

const pollMs = 100;

/** Resolves when the work may be done. */
async function hold({ notes, signal, ...call }: HeldCall): Promise<void> {
  const { layout, name, volume, node } = call;
  const when = read(call, volume)?.rules[name]?.when;
  if (when !== undefined && !(await call.isGone(when, node))) return;
  const answer = update(call, volume, (book) => book.ask(name, node, Date.now()));
  if (answer === undefined) return;
  notes['answered'] = 'refusal' in answer ? answer.refusal : `late: ${answer.waitMs} ms`;
  const isNever = 'refusal' in answer && answer.refusal === 'never';
  if ('refusal' in answer && !isNever) {
    const code = status[answer.refusal as keyof typeof status];
    throw new CallError(code, `${name} of ${volume} on ${node} is refused (disk.calls)`);
  }
  const leftMs = 'waitMs' in answer ? answer.waitMs : Number.POSITIVE_INFINITY;
  const untilMs = Date.now() + leftMs;
  while (Date.now() < untilMs && existsSync(rulesOf(layout, volume))) {
    if (isNever && signal.aborted)
      throw new CallError(status.CANCELLED, `${name} was never answered, and the caller gave up`);
    await sleep(Math.min(pollMs, untilMs - Date.now()));
  }
}

function read({ layout, host }: AnswerOptions, volume: string): CallBook | undefined {
  const rules = rulesOf(layout, volume);
  if (!existsSync(rules)) return undefined;
  const past = pastOf(layout, volume, host);
  return new CallBook(
    readFileSync(rules, 'utf8'),
    existsSync(past) ? (JSON.parse(readFileSync(past, 'utf8')) as CallBook['past']) : {},
  );
}

/** In one go: other calls of this process wait. */
function update<T>(of: AnswerOptions, volume: string, work: (book: CallBook) => T): T | undefined {
  const book = read(of, volume);
  if (book === undefined) return undefined;
  const result = work(book);
  writeFileSync(pastOf(of.layout, volume, of.host), JSON.stringify(book.past));
  return result;
}

/*
 * What of a node is gone. Of its machine that is seen by a socket on the shared directory, which the
 * driver's process there listens on: a frozen one still accepts, one that ended does not.
 */

const aliveSocket = ({ root }: Layout, node: string): string => join(root, 'alive', node);

export async function showAlive(layout: Layout, node: string): Promise<AsyncDisposable> {
  const path = aliveSocket(layout, node);
  mkdirSync(join(layout.root, 'alive'), { recursive: true });
  rmSync(path, { force: true });
  const server = createServer((socket) => socket.destroy()).listen(path);
  await once(server, 'listening');
  return server;
}

const isAlive = (layout: Layout, node: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(aliveSocket(layout, checkedName('node', node)));
    const tell = (alive: boolean) => (): void => {
      socket.destroy();
      resolve(alive);
    };
    socket.once('connect', tell(true)).once('error', tell(false));
  });

/** `has`: whether the API server has an object at that path. */
export const absenceOn =
  (layout: Layout, has: (path: string) => Promise<boolean>): AnswerOptions['isGone'] =>
  async (what, node) => {
    if (what === 'machine-gone') return !(await isAlive(layout, node));
    const folder = what === 'node-gone' ? '/api/v1/nodes' : '/apis/storage.k8s.io/v1/csinodes';
    return !(await has(`${folder}/${encodeURIComponent(node)}`));
  };
