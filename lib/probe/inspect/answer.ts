/** From stints to an answer, by rules alone. Two could write only where a record shows a write of the first node; a record that is missing leaves it open. */
import { observed } from '../../history/index.ts';
import type { DiskMode } from '../../scenario/index.ts';
import { placeInWords } from './files.ts';
import {
  type Incident,
  type ServerLife,
  type Sighting,
  type Volume,
  unbounded,
} from './incident.ts';
import type { ServerLine } from './read.ts';
import { type Bounds, type Stint, beginOf, boundsOf, noStint, stintsOf } from './stints.ts';

/** Never more than these. */
export type Answer = 'two could write' | 'only one could' | 'cannot be told';

/** What the storage does at a detach. */
export interface Storage {
  readonly mode: DiskMode | 'local' | undefined;
  /** How that is known. */
  readonly words: string;
}

interface Reasoned {
  readonly answer: Answer;
  /** What shows it, or what is missing. */
  readonly because: readonly string[];
}

/** The volume went from a node to another. */
export interface Passage extends Reasoned {
  readonly from: Stint;
  readonly to: Stint;
  /** While two could write: at least this long, ms by the API server’s clock. */
  readonly two?: Bounds;
}

export interface VolumeAnswer extends Reasoned {
  readonly volume: Volume;
  readonly storage: Storage;
  readonly stints: readonly Stint[];
  readonly passages: readonly Passage[];
}

/** The worst first. */
export const ranks: readonly Answer[] = ['two could write', 'cannot be told', 'only one could'];

export const worstOf = (answers: readonly Answer[]): Answer =>
  ranks.find((each) => answers.includes(each)) ?? 'cannot be told';

export function answerVolume(volume: Volume, incident: Incident, storage: Storage): VolumeAnswer {
  const stints = stintsOf(volume, incident);
  const passages = stints.slice(1).flatMap((to, index): Passage[] => {
    const from = stints[index];
    return from === undefined || from.node === to.node
      ? []
      : [passageOf({ volume, incident, storage, from, to })];
  });
  const about = { volume, storage, stints, passages };
  if (passages.length === 0) return { ...about, ...withoutSecond(about, incident) };
  const answer = worstOf(passages.map((each) => each.answer));
  const doubts = answer === 'only one could' ? doubtsOfEnd(volume, incident, stints) : [];
  if (doubts.length > 0) return { ...about, answer: 'cannot be told', because: doubts };
  const because = passages.filter((each) => each.answer === answer).flatMap((each) => each.because);
  return { ...about, answer, because };
}

interface Case {
  readonly volume: Volume;
  readonly incident: Incident;
  readonly storage: Storage;
  readonly from: Stint;
  readonly to: Stint;
}

/** Clocks of several API servers may differ by so much. */
const slackMs = 1000;

const at = ({ place }: { readonly place: Sighting['place'] }): string => `(${placeInWords(place)})`;

function passageOf(it: Case): Passage {
  const { incident, from, to } = it;
  const sinceMs = to.attached ? boundsOf(to.attached, incident).leastMs : -Infinity;
  const [mounted] = to.mounts
    .filter((seen) => boundsOf(seen, incident).mostMs >= sinceMs)
    .toSorted((a, b) => boundsOf(a, incident).mostMs - boundsOf(b, incident).mostMs);
  const secondMs = mounted && boundsOf(mounted, incident).mostMs + slackMs;
  const written = secondMs === undefined ? [] : writesAfter(it, secondMs);
  const [last] = written.toReversed();
  const told = (answer: Answer, ...because: readonly string[]) => ({ from, to, answer, because });
  if (mounted !== undefined && secondMs !== undefined && last !== undefined) {
    const shown = [
      `${to.node} had the volume mounted ${at(mounted)}`,
      `after that the server on ${from.node} still wrote to it: ${last.line.is === 'stopped' ? 'it ended cleanly' : 'it completed a checkpoint'} ${at(last.line)}`,
    ];
    const doubt = fenceOf(it);
    if (doubt !== undefined)
      return told(
        'cannot be told',
        ...[...shown, `but ${doubt}: the records and the documents contradict each other`],
      );
    const two = { leastMs: secondMs, mostMs: last.leastMs };
    return { ...told('two could write', ...shown), two };
  }
  const kept = keptApart(it);
  const { ofChain, ofNode } = missingOf(it, secondMs);
  if (kept === undefined) return told('cannot be told', ...ofChain, ...ofNode);
  return ofChain.length > 0 ? told('cannot be told', ...ofChain) : told('only one could', kept);
}

// Two: the old node’s server wrote once the second node had the volume.

interface Written extends Bounds {
  readonly line: ServerLine;
}

function writesAfter({ incident, from, to, volume }: Case, secondMs: number): Written[] {
  const goneMs = to.deleting === undefined ? Infinity : boundsOf(to.deleting, incident).leastMs;
  return serversOn(from, volume, incident).flatMap((life) =>
    provenWrites(life).flatMap(({ ready, line }): Written[] => {
      const [began, wrote] = [ready, line].map((each) => serverBounds(each, life, incident));
      if (began === undefined || wrote === undefined) return [];
      const isBeside = began.mostMs < secondMs && wrote.leastMs > secondMs && wrote.mostMs < goneMs;
      return isBeside ? [{ ...wrote, line }] : [];
    }),
  );
}

const serversOn = ({ node }: Stint, { name }: Volume, { servers }: Incident): ServerLife[] =>
  servers.filter((life) => life.node === node && life.volumes.has(name));

const serverBounds = ({ atMs }: ServerLine, { node }: ServerLife, incident: Incident): Bounds =>
  boundsOf({ atMs, roundMs: 0, clock: node }, incident);

/** Moments at which a server has just written: it was ready, did not start again, and nothing of it failed since. */
function provenWrites({
  lines,
}: ServerLife): { readonly ready: ServerLine; readonly line: ServerLine }[] {
  let ready: ServerLine | undefined;
  const found: { ready: ServerLine; line: ServerLine }[] = [];
  for (const line of lines) {
    if (line.is === 'ready') ready ??= line;
    else if (line.is === 'started' || line.is === 'failed') ready = undefined;
    else if (ready !== undefined) {
      found.push({ ready, line });
      if (line.is === 'stopped') ready = undefined;
    }
  }
  return found;
}

// One: the old node had lost the volume before the second could have it.

/** Why the first node could write no more before the second could at all; undefined: no record shows it. */
function keptApart(it: Case): string | undefined {
  const { incident, from, to } = it;
  if (to.attached === undefined) return undefined;
  const secondMs = boundsOf(to.attached, incident).leastMs - slackMs;
  const { unmounted, mounts } = from;
  const isBefore = (seen: Sighting | undefined): seen is Sighting =>
    seen !== undefined && boundsOf(seen, incident).mostMs < secondMs;
  const isMountedAgain = mounts.some(
    ({ atMs }) => atMs > (unmounted?.atMs ?? 0) && atMs < secondMs,
  );
  if (isBefore(unmounted) && !isMountedAgain)
    return `${from.node} had unmounted it ${at(unmounted)} before it was attached to ${to.node} ${at(to.attached)}`;
  const boot = incident.sightings.find(
    (seen) =>
      seen.name === 'boot' &&
      seen.node === from.node &&
      isBefore(seen) &&
      seen.atMs > beginOf(from),
  );
  if (boot !== undefined)
    return `${from.node} had started anew ${at(boot)} before ${to.node} had it ${at(to.attached)}`;
  const fence = fenceOf(it);
  const { answered } = from;
  if (fence === undefined || answered === undefined) return undefined;
  const isOrdered = boundsOf(answered, incident).mostMs <= boundsOf(to.attached, incident).leastMs;
  return isOrdered && answered.clock === 'api'
    ? `${fence}; the driver had answered the detach ${at(answered)} before ${to.node} had it ${at(to.attached)}`
    : undefined;
}

/** What of the storage keeps the old node out after a detach. */
function fenceOf({ storage: { mode, words }, incident, from }: Case): string | undefined {
  if (isFence(mode)) return `the storage is \`${mode}\` (${words})`;
  if (mode !== 'fence-if-out-of-service') return undefined;
  const taint = incident.sightings.find(
    ({ name, node, data, atMs }) =>
      name === observed.nodeTaints &&
      node === from.node &&
      JSON.stringify(data['taints']).includes('out-of-service') &&
      atMs <= (from.deleting?.atMs ?? -Infinity),
  );
  return taint && `the storage is \`${mode}\` (${words}), and the taint was set ${at(taint)}`;
}

// What is missing.

interface Missing {
  /** Without these nobody can say that there was no other node. */
  readonly ofChain: readonly string[];
  readonly ofNode: readonly string[];
}

/** The words of what is so. */
const those = (all: Readonly<Record<string, boolean>>): string[] =>
  Object.keys(all).filter((words) => all[words]);

function missingOf(
  { incident, from, to, volume, storage }: Case,
  secondMs: number | undefined,
): Missing {
  const { hasAudit, offsets } = incident;
  const servers = serversOn(from, volume, incident);
  const failed = servers.flatMap(({ lines }) => lines).find(({ is }) => is === 'failed');
  const isSilent = servers.length > 0 && failed === undefined;
  const lacksStart = hasAudit && to.attached?.source !== 'audit';
  const lacksEnd = hasAudit && from.deleting?.source !== 'audit';
  return {
    ofChain: those({
      'there is no audit log of the API server': !hasAudit,
      [`no audit log has the attachment to ${to.node}`]: lacksStart,
      [`no audit log has the end of the attachment to ${from.node}`]: lacksEnd,
      ...sharing(volume),
    }),
    ofNode: those({
      [`no event or kubelet’s log shows that ${to.node} mounted it`]: secondMs === undefined,
      [notLost(from, storage)]: true,
      [`there is no log of a server on ${from.node} that had this volume`]: servers.length === 0,
      [`the server on ${from.node} reported a failure ${failed && at(failed)}`]:
        failed !== undefined,
      [`no line of the server on ${from.node} shows a write after ${to.node} had the volume`]:
        isSilent,
      [`nothing bounds the clock of ${from.node}: there are no events of its kubelet about a pod`]:
        (offsets.get(from.node) ?? unbounded).leastMs === -Infinity,
    }),
  };
}

/** A storage that fences is missing no fence, but the answer with which it has. */
const notLost = ({ node }: Stint, { mode }: Storage): string =>
  `no record shows that ${node} had lost the volume: neither an unmount in its kubelet’s log, nor a boot, nor ${isFence(mode) ? 'the driver’s answer to the detach before the next attachment' : 'a fence of the storage'}`;

const isFence = (mode: Storage['mode']): boolean => mode === 'fenced' || mode === 'reservation';

const sharing = ({
  accessModes,
}: Pick<Volume, 'accessModes'>): Readonly<Record<string, boolean>> => ({
  'there is no dump of the PersistentVolume': accessModes.length === 0,
  'the volume is ReadWriteMany: Kubernetes admits a second node without a detach':
    accessModes.includes('ReadWriteMany'),
});

/** Nobody else is recorded: is that all there was? */
function withoutSecond(
  { volume, storage, stints }: Pick<VolumeAnswer, 'volume' | 'storage' | 'stints'>,
  incident: Incident,
): Reasoned {
  const doubts = doubtsOfEnd(volume, incident, stints);
  const [only] = stints;
  if (doubts.length > 0 || only === undefined)
    return { answer: 'cannot be told', because: [...doubts, ...takenFrom(stints.at(-1), storage)] };
  return {
    answer: 'only one could',
    because: [
      `the volume was attached to ${only.node} alone, from before the records begin to their end`,
    ],
  };
}

/** The end of the last stint is on record, and nothing of what came after it. */
function takenFrom(last: Stint | undefined, storage: Storage): string[] {
  const named = last?.named?.name === observed.attachmentAttached ? undefined : last?.named;
  const taken = last?.answered ?? last?.deleting ?? named;
  if (last === undefined || taken === undefined) return [];
  return those({
    [`it was taken from ${last.node} ${at(taken)}, and no record shows which node had it next`]: true,
    [notLost(last, storage)]: last.unmounted === undefined,
  });
}

/** What every answer needs. */
export const missingWithoutVolume = (incident: Incident): string[] =>
  doubtsOfEnd({ name: '', handle: undefined, accessModes: [] }, incident, []);

/** Why there may have been another node: before the records begin, in a gap, or in the end. */
function doubtsOfEnd(
  volume: Pick<Volume, 'name' | 'handle' | 'accessModes'>,
  incident: Incident,
  stints: readonly Stint[],
): string[] {
  const { attachments, attachedLast, sightings, hasAudit } = incident;
  const own = attachments.filter((each) => each.volume === volume.name);
  const [first, last] = [stints[0], stints.at(-1)];
  const audited = sightings.filter(({ source }) => source === 'audit');
  const sinceMs = Math.min(...audited.map(({ atMs }) => atMs));
  const others = [...(attachedLast ?? [])].filter(
    ([node, handles]) => node !== last?.node && handles.has(volume.handle ?? '?'),
  );
  const isUncovered = first?.attached?.source !== 'audit' && beginOf(first ?? noStint) > sinceMs;
  const unnamed = audited.find(
    ({ data, volume: of }) =>
      of === undefined && data['resource'] === 'volumeattachments' && data['verb'] === 'create',
  );
  const [held] = own;
  const isAlone = own.length === 1 && held?.node === last?.node && held?.isDeleting === false;
  const ageMs = (held?.createdMs ?? Number.NaN) - (last?.attached?.atMs ?? Number.NaN);
  return those({
    'there is no audit log of the API server': !hasAudit,
    'no record shows who had the volume': stints.length === 0,
    'the audit log lacks the creation of the first attachment':
      hasAudit && stints.length > 0 && isUncovered,
    [`an attachment is created whose volume no record has ${unnamed && at(unnamed)}`]:
      unnamed !== undefined,
    'there is no dump of the VolumeAttachments': attachments.length === 0,
    'the dump of the VolumeAttachments does not have the last node alone':
      attachments.length > 0 && !isAlone,
    'the attachment in the dump is younger than the one on record': Math.abs(ageMs) > 2000,
    'there is no dump of the Nodes': attachedLast === undefined,
    [`the dump of the Nodes has the volume on ${others.map(([node]) => node).join(', ')}, too`]:
      others.length > 0,
    ...sharing(volume),
  });
}
