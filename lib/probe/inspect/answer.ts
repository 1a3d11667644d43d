/** From stints to an answer, by rules alone. Two could write only where a record shows a write of the first node; a record that is missing leaves it open. */
import { observed } from '../../history/index.ts';
import type { DiskMode } from '../../scenario/index.ts';
import { placeInWords } from './files.ts';
import type { Incident, ServerLife, Sighting, Volume } from './incident.ts';
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

export const worstFirst: readonly Answer[] = [
  'two could write',
  'cannot be told',
  'only one could',
];

export const worstOf = (answers: readonly Answer[]): Answer =>
  worstFirst.find((each) => answers.includes(each)) ?? 'cannot be told';

export function answerVolume(volume: Volume, incident: Incident, storage: Storage): VolumeAnswer {
  const stints = stintsOf(volume, incident);
  const passages = stints.slice(1).flatMap((to, index): Passage[] => {
    const from = stints[index];
    return from === undefined || from.node === to.node
      ? []
      : [passageOf({ volume, incident, storage, from, to })];
  });
  const about = { volume, storage, stints, passages };
  if (passages.length === 0) return { ...about, ...withoutSecond(volume, incident, stints) };
  const answer = worstOf(passages.map((each) => each.answer));
  const because = passages.filter((each) => each.answer === answer).flatMap((each) => each.because);
  const doubts = answer === 'only one could' ? doubtsOfEnd(volume, incident, stints) : [];
  return doubts.length > 0
    ? { ...about, answer: 'cannot be told', because: doubts }
    : { ...about, answer, because };
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
  if (mounted !== undefined && secondMs !== undefined && last !== undefined) {
    const shown = [
      `${to.node} had the volume mounted ${at(mounted)}`,
      `after that the server on ${from.node} still wrote to it: ${last.line.is === 'stopped' ? 'it ended cleanly' : 'it completed a checkpoint'} ${at(last.line)}`,
    ];
    const doubt = fenceOf(it);
    const two = { leastMs: secondMs, mostMs: last.leastMs };
    return doubt === undefined
      ? { from, to, answer: 'two could write', because: shown, two }
      : {
          from,
          to,
          answer: 'cannot be told',
          because: [...shown, `but ${doubt}: the records and the documents contradict each other`],
        };
  }
  const kept = keptApart(it);
  const missing = missingOf(it, secondMs);
  return kept !== undefined && missing.ofChain.length === 0
    ? { from, to, answer: 'only one could', because: [kept] }
    : {
        from,
        to,
        answer: 'cannot be told',
        because: [...missing.ofChain, ...(kept === undefined ? missing.ofNode : [])],
      };
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
  if (mode === 'fenced' || mode === 'reservation') return `the storage is \`${mode}\` (${words})`;
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

const when = (isSo: boolean, words: string): readonly string[] => (isSo ? [words] : []);

function missingOf(
  { incident, from, to, volume, storage }: Case,
  secondMs: number | undefined,
): Missing {
  const { hasAudit, offsets } = incident;
  const servers = serversOn(from, volume, incident);
  const failed = servers.flatMap(({ lines }) => lines).find(({ is }) => is === 'failed');
  const isUnbounded = (offsets.get(from.node)?.leastMs ?? -Infinity) === -Infinity;
  return {
    ofChain: [
      ...when(!hasAudit, 'there is no audit log of the API server'),
      ...when(
        hasAudit && to.attached?.source !== 'audit',
        `no audit log has the attachment to ${to.node}`,
      ),
      ...when(
        hasAudit && from.deleting?.source !== 'audit',
        `no audit log has the end of the attachment to ${from.node}`,
      ),
      ...sharedBy(volume),
    ],
    ofNode: [
      ...when(secondMs === undefined, `no event or kubelet’s log shows that ${to.node} mounted it`),
      `no record shows that ${from.node} had lost the volume: neither an unmount in its kubelet’s log, nor a boot, nor a fence of the storage (${storage.words})`,
      ...when(
        servers.length === 0,
        `there is no log of a server on ${from.node} that had this volume`,
      ),
      ...(failed === undefined
        ? []
        : [`the server on ${from.node} reported a failure ${at(failed)}`]),
      ...when(
        servers.length > 0 && failed === undefined,
        `no line of the server on ${from.node} shows a write after ${to.node} had the volume`,
      ),
      ...when(
        isUnbounded,
        `nothing bounds the clock of ${from.node}: there are no events of its kubelet about a pod`,
      ),
    ],
  };
}

const sharedBy = ({ accessModes }: Volume): readonly string[] => [
  ...when(
    accessModes.length === 0,
    'there is no dump of the PersistentVolume, with its access modes',
  ),
  ...when(
    accessModes.includes('ReadWriteMany'),
    'the volume is ReadWriteMany: Kubernetes admits a second node without a detach',
  ),
];

/** Nobody else is recorded: is that all there was? */
function withoutSecond(volume: Volume, incident: Incident, stints: readonly Stint[]): Reasoned {
  const doubts = doubtsOfEnd(volume, incident, stints);
  const [only] = stints;
  if (doubts.length > 0 || only === undefined) return { answer: 'cannot be told', because: doubts };
  return {
    answer: 'only one could',
    because: [
      `the volume was attached to ${only.node} alone, from before the records begin to their end`,
    ],
  };
}

/** Why there may have been another node: before the records begin, in a gap, or in the end. */
function doubtsOfEnd(volume: Volume, incident: Incident, stints: readonly Stint[]): string[] {
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
  return [
    ...when(
      !hasAudit,
      'there is no audit log of the API server: another node may have had the volume in between',
    ),
    ...when(stints.length === 0, 'no record shows who had the volume'),
    ...when(
      hasAudit && stints.length > 0 && isUncovered,
      'the audit log lacks the creation of the first attachment',
    ),
    ...(unnamed === undefined
      ? []
      : [`an attachment is created whose volume no record has ${at(unnamed)}`]),
    ...when(
      attachments.length === 0,
      'there is no dump of the VolumeAttachments: who had the volume in the end is not shown',
    ),
    ...when(
      attachments.length > 0 &&
        (own.length !== 1 || held?.node !== last?.node || held?.isDeleting === true),
      'the dump of the VolumeAttachments does not have the last node alone',
    ),
    ...when(
      held !== undefined &&
        last?.attached !== undefined &&
        Math.abs(held.createdMs - last.attached.atMs) > 2000,
      'the attachment in the dump is younger than the one on record',
    ),
    ...when(
      attachedLast === undefined,
      'there is no dump of the Nodes, with the volumes that were attached to each',
    ),
    ...when(
      others.length > 0,
      `the dump of the Nodes has the volume on ${others.map(([node]) => node).join(', ')}, too`,
    ),
    ...sharedBy(volume),
  ];
}
