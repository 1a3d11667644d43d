/** Are the clients' journals whole, and are volume and copies those of this run? */
import { silencesIn, toldInSeconds, toldSpan } from '../../core/index.ts';
import {
  type ClientBeatRecord,
  type ClientJournal,
  ClientJournals,
  type ClientPlan,
  type ConnectionState,
  type CopyIdentity,
  type CopyRecord,
  type History,
  type ImageLabel,
  type ImageRecord,
  type SegmentCounts,
  type SegmentSeal,
  type Tells,
  type VolumeIdentity,
  beatWithinMs,
  clientSides,
  runSegment,
  writerSegment,
} from '../../history/index.ts';
import { commitsToBeSeen, expectedSights } from './observers.ts';
import { cutOffWindowOf } from './steps.ts';
import {
  type BlindRead,
  type CutOffAnswers,
  type Patience,
  ReadMeter,
  ReaderSightMeter,
  type Service,
  ServiceMeter,
  type StaleReads,
  type UnseenCommits,
  cutOffAnswerMeter,
  staleReadMeter,
  unseenCommitMeter,
} from '../timeline/clients.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';
import type { Scenario } from '../../scenario/index.ts';

export interface ClientGap {
  readonly client: string;
  /** A sentence. */
  readonly reason: string;
}

/**
 * Beyond its pace a connection is silent no longer than this: a lost session is opened anew after 2 s
 * at most, a connect is given up after 2 s, an operation after 5 s and its rollback after 5 s more
 * (lib/run/workload.ts, the database’s session); the rest is what a busy machine adds. In 139 runs on kind it was
 * never more than 5.6 s.
 */
export const answerWithinMs = 30_000;

/** A process for each client is started after its plan; steady state waits for both as long. */
const beginWithinMs = 60_000;

/** `writesOnly`: clients were to read nothing back. Default false. */
export function clientGaps(
  story: Story,
  journals: ClientJournals,
  { writesOnly = false }: { readonly writesOnly?: boolean } = {},
): ClientGap[] {
  if (!story.tells.plans) return [];
  const plan = story.records.find((record) => record.type === 'workload');
  if (plan === undefined) {
    const reason = 'the history does not say what the clients were to do';
    return clientSides.map((client) => ({ client, reason }));
  }
  return [...new Set([...clientSides, ...journals.clients])].flatMap((client) => {
    const planned = plan.clients.find((each) => each.client === client);
    const asked = { client, planned, atMs: plan.t, writesOnly };
    return gapsOfClient(story, asked, journals).map((reason) => ({ client, reason }));
  });
}

interface PlannedClient {
  readonly client: string;
  readonly planned: ClientPlan | undefined;
  /** When that was told. */
  readonly atMs: number;
  readonly writesOnly: boolean;
}

function gapsOfClient(
  story: Story,
  { client, planned, atMs, writesOnly }: PlannedClient,
  journals: ClientJournals,
): string[] {
  if (planned === undefined) return [`the plan lacks the ${client} client`];
  const span = { fromMs: atMs, toMs: lookedUntilMs(story) };
  const isIdle = planned.rate === 0;
  const writing = journals.of(client, 'writing');
  const reading = journals.of(client, 'reading');
  const { readEveryMs } = planned;
  return [
    ...(isAsScenario(story, planned, writesOnly)
      ? []
      : [`the ${client} client was to do what no scenario asks`]),
    ...[...writing.oddities(), ...silences(writing, span, planned)].map(
      (what) => `the ${client} client’s journal: ${what}`,
    ),
    ...beatGaps(writing, span).map((what) => `the ${client} client ${what}`),
    ...(isIdle || readEveryMs === undefined
      ? []
      : [
          ...reading.oddities().map((what) => `the ${client} client’s reads: ${what}`),
          ...[...beatGaps(reading, span), ...idleReads(reading.beats, readEveryMs)].map(
            (what) => `the ${client} client’s reader ${what}`,
          ),
        ]),
  ];
}

const isAsScenario = ({ scenario }: Story, plan: ClientPlan, writesOnly: boolean): boolean =>
  plan.rate === scenario.load.rate &&
  plan.connections === scenario.load.connections &&
  (plan.readEveryMs !== undefined || scenario.load.rate === 0 || writesOnly);

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Silences of each connection: from the plan to its first record, on to its last, and to the writers' end. */
function silences(journal: ClientJournal, span: Span, plan: ClientPlan): string[] {
  const { rate, connections } = plan;
  const paceMs = rate === 'max' || rate === 0 ? 0 : (connections * 1000) / rate;
  const found = Object.keys(journal.connections).map(Number);
  const planned = Array.from({ length: connections }, (_, number) => number);
  return [
    ...found
      .filter((number) => number >= connections)
      .map((number) => `the plan lacks its connection ${number}`),
    ...planned.flatMap((number) =>
      silencesOf(journal.connections[number], span, { paceMs, isIdle: rate === 0 }).map(
        (what) => `its connection ${number} ${what}`,
      ),
    ),
  ];
}

function silencesOf(
  at: ConnectionState | undefined,
  span: Span,
  { paceMs, isIdle }: { readonly paceMs: number; readonly isIdle: boolean },
): string[] {
  if (at?.firstUs === undefined) return ['never began'];
  const firstMs = at.firstUs / 1000;
  if (firstMs < span.fromMs - 1) return ['began before anybody said what it was to do'];
  if (firstMs > span.fromMs + beginWithinMs + paceMs) {
    return [`began at ${toldInSeconds(firstMs)} only`];
  }
  // It opens its sessions and sends nothing.
  if (isIdle) return [];
  const { longest, lastUs } = at;
  return [
    [longest.fromUs / 1000, longest.toUs / 1000],
    [lastUs / 1000, span.toMs],
  ]
    .flatMap((stretch) => silencesIn(stretch, paceMs + answerWithinMs))
    .map((stretch) => `was silent ${stretch}`);
}

function beatGaps({ beats }: ClientJournal, { fromMs, toMs }: Span): string[] {
  if (beats.length === 0) return ['never beat'];
  const last = beats.at(-1);
  const times = [fromMs, ...beats.map(({ t }) => t)];
  const silent = silencesIn(times, beatWithinMs).map((span) => `did not beat ${span}`);
  if (last?.last !== true) return [...silent, 'never ended in good order'];
  // It ends when it is told to, right before the second image.
  return last.t < toMs - beatWithinMs
    ? [...silent, `ended at ${toldInSeconds(last.t)}, before it was to end`]
    : silent;
}

/** A reader that tries counts up: an answer or a refusal. */
function idleReads(beats: readonly ClientBeatRecord[], everyMs: number): string[] {
  const withinMs = everyMs + answerWithinMs;
  const gaps: string[] = [];
  let since: { readonly t: number; readonly tries: number } | undefined;
  for (const { t, done } of beats) {
    const tries = (done['read'] ?? 0) + (done['refused'] ?? 0);
    if (since === undefined || tries > since.tries) since = { t, tries };
    else if (t - since.t > withinMs) {
      gaps.push(`tried nothing ${toldSpan(since.t, t)}`);
      since = { t, tries };
    }
  }
  return gaps;
}

/** Longer without an acknowledgement, beyond its pace: a client was not served all the time. */
const servedBreakMs = 10_000;

/** By client: how long it may be served and read nothing. */
export function blindAfter({ records }: Story): ReadonlyMap<string, Patience> {
  const plan = records.find((record) => record.type === 'workload');
  return new Map(
    (plan?.clients ?? []).flatMap(({ client, rate, readEveryMs }) => {
      if (readEveryMs === undefined) return [];
      const paceMs = rate === 'max' || rate === 0 ? 0 : 1000 / rate;
      const breakMs = paceMs + servedBreakMs;
      return [[client, { breakMs, blindMs: readEveryMs + breakMs + answerWithinMs }] as const];
    }),
  );
}

export function blindReads({ tells }: Story, blind: readonly BlindRead[]): ClientGap[] {
  if (!tells.plans) return [];
  return blind.map((each) => ({ client: each.client, reason: sentenceOf(each) }));
}

function sentenceOf({ client, what, count, atMs, node }: BlindRead): string {
  const reads = `${count} ${count === 1 ? 'read' : 'reads'} of the ${client} client on ${node}`;
  const since = `the first at ${toldInSeconds(atMs)}`;
  if (what === 'no-row')
    return `${reads} saw an empty ledger (${since}), which had commits by then`;
  if (what === 'older-row') {
    return `${reads} saw a row (${since}) that was not the newest of those acknowledged there`;
  }
  return `the ${client} client was served by ${node} from ${toldInSeconds(atMs)} on, and read nothing`;
}

// What the clients' answers say: of the service, of other observers, and of the clients themselves.

export interface Answers {
  readonly service: Service;
  readonly staleReads: readonly StaleReads[];
  readonly reads: ReadMeter;
  readonly cutOff: CutOffAnswers;
  readonly journals: ClientJournals;
  readonly blindReads: readonly BlindRead[];
  readonly unseen: readonly UnseenCommits[];
}

/** One pass over all of them. */
export function answersIn(story: Story, history: History): Answers {
  const service = new ServiceMeter({
    faultAtMs: story.faultAtMs,
    endAtMs: lookedUntilMs(story),
    victimNode: story.victimNode,
  });
  const stale = staleReadMeter(story);
  const reads = new ReadMeter();
  const cutOff = cutOffAnswerMeter(cutOffWindowOf(story));
  const journals = new ClientJournals();
  const sights = new ReaderSightMeter(blindAfter(story));
  const unseen = unseenCommitMeter(commitsToBeSeen(story));
  for (const answer of history.answers(journals)) {
    if (answer.type === 'read') reads.see(answer);
    else service.see(answer);
    for (const meter of [stale, cutOff, sights, unseen]) meter.see(answer);
  }
  return {
    service: service.result(),
    staleReads: stale.result(),
    reads,
    cutOff: cutOff.result(),
    journals,
    blindReads: sights.result(),
    unseen: unseen.result(),
  };
}

// Is what was audited this run's: its volume, and the copy that was made at that moment? Who set the volume
// up, who copied it, who watched it and who opened the copy tell of it each by himself. Where they disagree
// it is another volume or another copy, which proves nothing of this one, damage neither.

export interface Identities {
  /** A sentence each, which says whose records disagree. */
  readonly reasons: readonly string[];
  /** Images that are not proven to be of this volume and moment: nobody may judge by them. */
  readonly foreign: ReadonlySet<ImageLabel>;
}

const labels: readonly ImageLabel[] = ['steady', 'first', 'second'];

/** What is needed of a run's plot. */
type IdentityEvidence = Pick<Story, 'records' | 'observations' | 'setup' | 'tells'> & {
  readonly scenario: { readonly volume: Pick<Scenario['volume'], 'provision'> };
};

export function identitiesOf(story: IdentityEvidence): Identities {
  if (!story.tells.identities) return { reasons: [], foreign: new Set() };
  const volume = story.setup?.volume;
  const shared = [
    ...volumeGaps(story, volume),
    ...provisioningGaps(story, volume),
    ...sequenceGaps(story),
  ];
  const foreign = new Map(labels.map((label) => [label, foreignBecause(story, label, volume)]));
  return {
    reasons: [...shared, ...[...foreign.values()].flat()],
    foreign: new Set(labels.filter((label) => (foreign.get(label) ?? []).length > 0)),
  };
}

const ofVolume: ReadonlySet<string> = new Set(['csi', 'mounts', 'devices']);

/** Observers of the disk name the volume that they mean. */
function volumeGaps(
  { observations }: IdentityEvidence,
  volume: VolumeIdentity | undefined,
): string[] {
  if (volume === undefined) return ['the history does not say which volume the run was about'];
  const others = observations.filter(
    ({ source, data }) => ofVolume.has(source) && 'volume' in data && data.volume !== volume.volume,
  );
  return [...new Set(others.map(({ source, data }) => `${source} ${String(data.volume)}`))].map(
    (other) => `observers saw another volume than the run’s ${volume.volume}: ${other}`,
  );
}

/** Kubernetes, the driver and the backend name the volume that was made for the claim, each by itself. */
function provisioningGaps(
  { scenario }: IdentityEvidence,
  volume: VolumeIdentity | undefined,
): string[] {
  if (scenario.volume.provision !== 'dynamic' || volume === undefined) return [];
  const { provisioning } = volume;
  if (provisioning === undefined) return ['the history does not say what provisioned the volume'];
  const { volumeName, handle, calls } = provisioning;
  const isMade = calls.some(({ call, error }) => call === 'CreateVolume' && error === undefined);
  return [
    ...(handle === volume.volume
      ? []
      : [`the PersistentVolume ${volumeName} is of ${handle}, and the run’s is ${volume.volume}`]),
    ...(isMade ? [] : [`the driver does not tell that it made ${handle}`]),
  ];
}

/** Copies of one run are several, and a later one is of no earlier attachment. */
function sequenceGaps(story: IdentityEvidence): string[] {
  const copies = labels.flatMap((label) => copiesOf(story, label).slice(0, 1));
  return copies.slice(1).flatMap((copy, index) => {
    const before = copies[index];
    if (before === undefined) return [];
    const [one, other] = [before.image, copy.image];
    const isOne = before.made.copy === copy.made.copy || before.made.stamp === copy.made.stamp;
    return [
      ...(isOne ? [`the ${one} and the ${other} copy are one: ${copy.made.copy}`] : []),
      ...(copy.made.generation < before.made.generation
        ? [
            `the ${other} copy is of attachment ${copy.made.generation}, and the ${one} copy, ` +
              `before it, of ${before.made.generation}`,
          ]
        : []),
    ];
  });
}

const copiesOf = ({ records }: IdentityEvidence, label: ImageLabel): CopyRecord[] =>
  records.filter((record) => record.type === 'copy').filter(({ image }) => image === label);

const imagesOf = ({ records }: IdentityEvidence, label: ImageLabel): ImageRecord[] =>
  records.filter((record) => record.type === 'image').filter(({ image }) => image === label);

/** Why that image does not count. An image that nobody audited is missed elsewhere. */
function foreignBecause(
  story: IdentityEvidence,
  label: ImageLabel,
  volume: VolumeIdentity | undefined,
): string[] {
  const images = imagesOf(story, label);
  const [image] = images;
  if (image === undefined) return [];
  if (images.length > 1) return [`the ${label} image was audited ${images.length} times`];
  const [copy, ...more] = copiesOf(story, label);
  if (copy === undefined) return [`the record of copies lacks the ${label} copy`];
  if (more.length > 0) return [`the ${label} copy was made ${more.length + 1} times`];
  const { evidence } = image;
  const { opened } = evidence;
  if (opened === undefined) return [`the audit does not say what it opened as the ${label} copy`];
  const differs = fieldsThatDiffer(copy.made, opened);
  return [
    ...(differs.length === 0
      ? []
      : [
          `the audit of the ${label} image opened another copy than was made at that time: ` +
            differs.join(', '),
        ]),
    ...(differs.length > 0 || readsAs(evidence.filesystemUuid, opened)
      ? []
      : [
          `the audit of the ${label} image opened file system ${opened.filesystemUuid ?? 'none'}, ` +
            `and read ${evidence.filesystemUuid ?? 'none'}`,
        ]),
    ...notOfVolume(copy, image, volume),
    ...notOfMoment(story, copy, image),
  ];
}

/** A damaged one may have none to be read any more. */
const readsAs = (uuid: string | undefined, { filesystemUuid }: CopyIdentity): boolean =>
  uuid === undefined || uuid === filesystemUuid;

const fields: readonly (keyof CopyIdentity)[] = [
  ...(['copy', 'volume', 'generation', 'bytes', 'stamp', 'digest', 'filesystemUuid'] as const),
];

const fieldsThatDiffer = (made: CopyIdentity, opened: CopyIdentity): string[] =>
  fields
    .filter((field) => made[field] !== opened[field])
    .map((field) => `${field} ${made[field] ?? 'none'} became ${opened[field] ?? 'none'}`);

/**
 * Before the fault file system and database are those that the run began with. Later a new one may be
 * the fault's work, which is a finding of its own: then copy and audit agree on it.
 */
function notOfVolume(
  { image: label, made }: CopyRecord,
  { evidence }: ImageRecord,
  volume: VolumeIdentity | undefined,
): string[] {
  if (volume === undefined) return [];
  const reasons: string[] = [];
  const differs = (what: string, was: string | undefined, is: string | undefined): void => {
    if (was !== is) {
      reasons.push(
        `the ${label} copy has ${what} ${is ?? 'none'}, and the run’s volume ${was ?? 'none'}`,
      );
    }
  };
  differs('handle', volume.volume, made.volume);
  if (label !== 'steady') return reasons;
  differs('file system', volume.filesystemUuid, made.filesystemUuid);
  if (evidence.serverUuid !== undefined) {
    differs('server', volume.serverUuid, evidence.serverUuid);
  }
  return reasons;
}

/** What a server has not synced yet need not be in a copy: run.ts dates it back by so much. */
const heldBackMs = 2000;
/** From the one to the other the runner waits for nothing. */
const recordedWithinMs = 2000;

/** It was made while the runner had it made, and not of an attachment that was over by then. */
function notOfMoment(
  { records, observations }: IdentityEvidence,
  { image, made, t }: CopyRecord,
  { takenAtMs }: ImageRecord,
): string[] {
  const steps = records
    .filter((record) => record.type === 'action')
    .filter(({ name }) => name === `copy ${image} image`);
  const begun = steps.find(({ step }) => step === 'begin')?.t ?? Number.POSITIVE_INFINITY;
  const done = steps.find(({ step }) => step === 'done')?.t ?? Number.NEGATIVE_INFINITY;
  const seen = observations
    .filter((each) => each.t <= begun && ofVolume.has(each.source))
    .map(({ data }) => data.generation ?? 0);
  const newest = seen.reduce((most, each) => Math.max(most, each), 0);
  return [
    ...(t < begun || t > done ? [`the ${image} copy was not made while the run copied`] : []),
    ...(takenAtMs > begun || takenAtMs < begun - heldBackMs - recordedWithinMs
      ? [
          `the ${image} image is recorded as of ${toldInSeconds(takenAtMs)}, and the run began to copy ` +
            `at ${toldInSeconds(begun)}`,
        ]
      : []),
    ...(made.generation < newest && made.generation > 0
      ? [
          `the ${image} copy is of attachment ${made.generation}, and observers had seen ${newest} by then`,
        ]
      : []),
  ];
}

// What a run’s records lack, by what their writers said when they ended them, and what may not be judged by
// them.

interface JournalGap {
  /** Or the name of another file. */
  readonly segment: string;
  /** A sentence. */
  readonly reason: string;
}

export function journalGaps(
  { tells, records }: Pick<Story, 'records'> & { readonly tells: Pick<Tells, 'ends'> },
  { seals, files }: Pick<History, 'seals' | 'files'>,
): JournalGap[] {
  if (!tells.ends) return [];
  const listed = records.find((record) => record.type === 'segments');
  const list = listed?.segments;
  const gaps = new Map([...seals].map(([name, seal]) => [name, gapsOf(seal)]));
  const find = (segment: string, what: string): void =>
    void gaps.set(segment, [...(gaps.get(segment) ?? []), what]);
  if (list === undefined) {
    find(runSegment, 'ends before the run listed what else there is');
  } else {
    for (const [name, told] of Object.entries(list)) {
      const counts = seals.get(name)?.counts;
      if (counts === undefined) find(name, `is missing: its writer reported ${tell(told)}`);
      else if (!isSame(counts, told)) {
        find(name, `holds ${tell(counts)}, and its writer reported ${tell(told)}`);
      }
    }
    for (const name of seals.keys()) {
      if (name !== runSegment && !Object.hasOwn(list, name))
        find(name, 'is not one that the run listed');
    }
  }
  return [
    ...[...gaps].flatMap(([segment, found]) =>
      found.map((what) => ({ segment, reason: `history segment ${segment} ${what}` })),
    ),
    ...changedFiles(listed?.files ?? {}, files),
  ];
}

/** The log of writes is no journal of a client's, but evidence as well. */
const changedFiles = (told: History['files'], files: History['files']): JournalGap[] =>
  Object.entries(told)
    .filter(([name, bytes]) => files[name] !== bytes)
    .map(([name, bytes]) => {
      const now = files[name] === undefined ? 'is missing' : `has ${files[name]} bytes`;
      return {
        segment: name,
        reason: `history file ${name} ${now}: the run reported ${bytes} bytes`,
      };
    });

/** Clients whose journals lack something: of their rows nobody can say that they were not sent. */
export function clientsWithGaps(
  gaps: readonly JournalGap[],
  { cuts }: Pick<History, 'cuts'>,
): ReadonlySet<string> {
  const segments = new Set([...gaps, ...cuts].map(({ segment }) => segment));
  return new Set(clientSides.filter((client) => segments.has(writerSegment(client))));
}

function gapsOf({ counts, end, brokenAt }: SegmentSeal): string[] {
  const gaps: string[] = [];
  if (brokenAt !== undefined) {
    gaps.push(`was altered: its frame ${brokenAt} is not the one that was written there`);
  }
  if (end === undefined) {
    gaps.push(`was never ended: after its ${counts.records} records there may have been more`);
  } else if (!isSame(counts, end)) {
    gaps.push(`holds ${tell(counts)}, and its end says ${tell(end)}`);
  }
  return gaps;
}

const isSame = (a: SegmentCounts, b: SegmentCounts): boolean =>
  a.records === b.records && a.small === b.small && a.frames === b.frames && a.chain === b.chain;

const tell = ({ records, small, frames, chain }: SegmentCounts): string =>
  `${records} records (${small} of them small) in ${frames} frames with chain ${chain ?? 'none'}`;

/** What the records themselves lack, and what may therefore not be judged by them. */
interface RecordGaps {
  /** Sentences. */
  readonly reasons: readonly string[];
  /** Clients of whose rows nobody can say that they were not sent. */
  readonly withGaps: ReadonlySet<string>;
  /** Images that are not proven to be of this run's volume and moment. */
  readonly without: ReadonlySet<ImageLabel>;
}

export function recordGaps(story: Story, history: History, answers: Answers): RecordGaps {
  const gaps = journalGaps(story, history);
  const clients = [
    ...clientGaps(story, answers.journals),
    ...blindReads(story, answers.blindReads),
  ];
  const { reasons, foreign } = identitiesOf(story);
  return {
    reasons: [
      ...reasons,
      ...clients.map(({ reason }) => reason),
      ...expectedSights(story, answers.unseen),
      ...gaps.map(({ reason }) => reason),
      ...history.cuts.map((cut) => `the history is cut: ${JSON.stringify(cut)}`),
    ],
    withGaps: new Set([...clientsWithGaps(gaps, history), ...clients.map(({ client }) => client)]),
    without: foreign,
  };
}
