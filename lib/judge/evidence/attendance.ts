/**
 * Who had to be there: each witness that a run needs, in which runs, by which canaries it shows that it could
 * look, and how long it may give none. One engine checks all of them.
 */
import { toldInSeconds, toldSpan } from '../../core/index.ts';
import {
  type ClientBeatRecord,
  type ClientJournals,
  type ObservationRecord,
  type ObservedName,
  askedWithinMs,
  beatWithinMs,
  clientSides,
  observationsOf,
  observed,
} from '../../history/index.ts';
import { isDirectory, silencesApi, stopsControlPlane } from '../../scenario/index.ts';
import { claimedFaults, exportStep, otherVictimOf, spanOf } from '../facts/acts.ts';
import { isWithin, type Span } from '../facts/engine.ts';
import { isPredicted } from '../facts/run.ts';
import { isGroupRun } from '../group/story.ts';
import { type Witness, witnesses } from '../facts/table.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';
import { type PlannedClient, answerWithinMs, paceMsOf, plannedClients } from './clients.ts';

/** What one witness gave of what it had to give. Times are ms on the run's clock. */
interface Attendance {
  /** Begins its sentences. */
  readonly who: string;
  readonly fields: Reason['fields'];
  /** Its first canary. Undefined: it gave none. */
  readonly beganMs: number | undefined;
  /** Each stretch without a canary of it, while it had to be there. */
  readonly quiet: readonly Span[];
  /** No longer than this may it be quiet. */
  readonly withinMs: number;
  /** The ends that it declared; one before `dueMs` is too early. Default: it declares none. */
  readonly ends?: { readonly atMs: readonly number[]; readonly dueMs: number };
}

export interface Attended {
  readonly story: Story;
  readonly journals: ClientJournals;
  /** The log of writes is there, be it readable or not. */
  readonly hasLog: boolean;
}

interface Row {
  readonly code: 'CERTIFICATE_SILENT' | 'CLIENT_GAP' | 'OBSERVER_SILENT' | 'WITNESS_MUTE';
  /** Runs that must have it. */
  readonly needed: (story: Story) => boolean;
  readonly of: (attended: Attended) => readonly Attendance[];
}

// Witnesses that prove themselves by one record.

const always = (): boolean => true;
const isGroup = ({ records }: Story): boolean => isGroupRun(records);
/** The volumes of a group stay where they are. */
const isOneServer = (story: Story): boolean => !isGroup(story);
const hasDevices = (story: Story): boolean =>
  isOneServer(story) && !isDirectory(story.scenario.disk.mode);
/** By what the backend declared, never by its name: whoever is real has to show it all. */
const isMeasured = (story: Story): boolean =>
  isOneServer(story) && !isPredicted(story.run) && story.tells.allSources;
/** A log that could not be fetched is recorded as an error, which counts where it is used. */
const keepsLog = (story: Story): boolean =>
  isMeasured(story) &&
  hasDevices(story) &&
  !story.records.some((record) => record.type === 'error' && record.where === exportStep);
/** A pod that nothing ends leaves the driver nothing to do. */
const movesVolume = (story: Story): boolean =>
  isOneServer(story) &&
  story.observations.some(({ name, t }) => t >= (story.faultAtMs ?? 0) && volumeMoves.has(name));
const volumeMoves: ReadonlySet<string> = new Set<ObservedName>([
  ...(['pod-terminating', 'pod-gone', 'unmounted'] as const),
  ...(['attachment-deleting', 'attachment-gone', 'attachment-attached'] as const),
]);

const losesLink = (story: Story): boolean =>
  isOneServer(story) && story.scenario.fault.link !== 'survives';

interface Proof extends Pick<Row, 'needed'> {
  readonly proof: ObservedName | 'audit' | 'controller-manager' | 'log' | 'setup';
}

/** A record, or a source of records, that a witness has wherever it sees: without one its silence means nothing. */
export const proofs: Readonly<Partial<Record<Witness, Proof>>> = {
  log: { proof: 'log', needed: keepsLog },
  devices: { proof: 'device-written', needed: hasDevices },
  mounts: { proof: 'mounted', needed: isOneServer },
  link: { proof: 'link-changed', needed: losesLink },
  driver: { proof: 'csi-call', needed: movesVolume },
  api: { proof: 'node-ready', needed: always },
  // A real control plane records its own start and the pod's.
  audit: { proof: 'audit', needed: isMeasured },
  manager: { proof: 'controller-manager', needed: isMeasured },
  setup: { proof: 'setup', needed: ({ tells }) => tells.ends },
  members: { proof: 'member-view', needed: isGroup },
  router: { proof: 'routed', needed: isGroup },
};

const proven = ([witness, { proof, needed }]: [string, Proof]): Row => ({
  ...{ code: 'WITNESS_MUTE', needed },
  of: ({ story: { observations, setup }, hasLog }) => {
    const shown =
      observations.find(({ name, source }) => name === proof || source === proof) ??
      (proof === 'setup' ? setup : undefined);
    const who = witnesses[witness as Witness];
    const beganMs = proof === 'log' && hasLog ? 0 : shown?.t;
    return [{ who, fields: { witness, proof }, beganMs, quiet: [], withinMs: Infinity }];
  },
});

// Observers and the machine, which beat from the fault on until the second image.

/** From one of these times to the next within the span, and to both its edges. */
function quietBetween(times: readonly number[], { fromMs, toMs }: Span): Span[] {
  const within = times.filter((t) => t > fromMs && t < toMs).toSorted((a, b) => a - b);
  return [...within, toMs].map((t, index) => ({ fromMs: within[index - 1] ?? fromMs, toMs: t }));
}

const watchedIn = ({ faultAtMs = 0, ...story }: Story): Span => ({
  ...{ fromMs: faultAtMs, toMs: lookedUntilMs(story) },
});

type Beating = Pick<Attendance, 'beganMs' | 'quiet' | 'withinMs'>;
const beating = (times: readonly number[], within: Span): Beating => ({
  beganMs: times[0],
  quiet: quietBetween(times, within),
  withinMs: beatWithinMs,
});

/** Histories before version 2 have no ends, and nothing is required of them. */
const isWatched = ({ tells, faultAtMs }: Story): boolean => tells.ends && faultAtMs !== undefined;

const timesOf = (signs: readonly { readonly t: number }[]): number[] => signs.map(({ t }) => t);

const lifeSigns: ReadonlySet<string> = new Set([
  ...[observed.observerBegan, observed.observerBeat, observed.observerEnded],
]);

/** While nothing ran on the control plane's node. */
function stoppedIn(story: Story): Span | undefined {
  const stops = claimedFaults(story).find(({ kind }) => stopsControlPlane(kind));
  const span = stops && spanOf(story, stops.name, stops.kind);
  return span && { fromMs: span.beginMs, toMs: span.overMs };
}

/** Followed on the control plane's node. */
const controlPlaneLogs: ReadonlySet<string> = new Set(['controller-manager', 'audit']);

function observersOf(story: Story, source: string): Attendance[] {
  const signs = story.observations.filter(
    ({ name, data }) => lifeSigns.has(name) && data.sees?.includes(source) === true,
  );
  const lives = Map.groupBy(signs, ({ node, data }) => `${String(data.observer)}@${node}`);
  return lives.size === 0
    ? [lifeOf(story, source, [])]
    : [...lives.values()].map((life) => lifeOf(story, source, life));
}

/** Of one observer, on the node where it sees. */
function lifeOf(story: Story, source: string, life: readonly ObservationRecord[]): Attendance {
  const watched = watchedIn(story);
  const node = life[0]?.node;
  const ends = life.filter(({ name }) => name === observed.observerEnded);
  // What it looked at is gone as well, until it begins again: only a node that is struck may go.
  const isVictim =
    node !== undefined && [story.victimNode, otherVictimOf(story)?.node].includes(node);
  const stopped = controlPlaneLogs.has(source) ? stoppedIn(story) : undefined;
  const isAway = ({ data, t }: ObservationRecord): boolean =>
    typeof data.reason === 'string' &&
    (isVictim || (stopped !== undefined && isWithin(stopped, t)));
  const awayMs = timesOf(ends.filter(isAway));
  const { quiet, ...rest } = beating(timesOf(life), watched);
  return {
    who: `the observer of ${source}${node === undefined ? '' : ` on ${node}`}`,
    fields: { source, ...(node !== undefined && { node }) },
    ...rest,
    quiet: quiet.flatMap((span) => {
      if (!awayMs.includes(span.fromMs)) return [span];
      // What ran on has to be followed again.
      return isVictim || stopped === undefined ? [] : [{ ...span, fromMs: stopped.toMs }];
    }),
    ends: {
      atMs: ends.map((end) => (isAway(end) ? watched.toMs : end.t)),
      dueMs: watched.toMs,
    },
  };
}

const observer = (source: string, needed: Row['needed']): Row => ({
  code: 'OBSERVER_SILENT',
  needed: (story) => isWatched(story) && needed(story),
  of: ({ story }) => observersOf(story, source),
});

const machineOf = ({ story }: Attended): Attendance[] => {
  const times = timesOf(story.records.filter(({ type }) => type === 'machine'));
  const about = { who: 'the observer of the machine', fields: { source: 'machine' } };
  return [{ ...about, ...beating(times, watchedIn(story)) }];
};

/** A reader on each side reads the members' ledgers twice a second, whatever it is answered. */
const groupReadersOf = ({ story }: Attended): Attendance[] =>
  clientSides.map((side) => {
    const reads = observationsOf(story.observations, observed.ledgerAnswer);
    const times = timesOf(reads.filter(({ data }) => data.side === side));
    const about = { who: `the reader from the ${side}`, fields: { source: 'group', side } };
    return { ...about, ...beating(times, watchedIn(story)) };
  });

/** Where the API server answers nothing, its observer sees nothing. */
const hasApi = ({ scenario: { fault, also } }: Story): boolean =>
  !silencesApi(fault.kind) && !silencesApi(also.kind);

// A fault that lasts: it is probed again until the first image, and once more right before the heal; not
// while the image is copied.

function probesOf({ story }: Attended): Attendance[] {
  const { records, scenario } = story;
  return claimedFaults(story).flatMap(({ name: fault, kind, askedAgain }): Attendance[] => {
    const span = spanOf(story, fault, kind);
    if (span === undefined || !askedAgain) return [];
    const { fromMs, toMs } = span;
    const probedMs = timesOf(
      records
        .filter((record) => record.type === 'certificate')
        .filter((each) => each.fault === fault && each.moment === 'during')
        .filter(({ t }) => isWithin(span, t)),
    );
    const imaged = records.find((each) => each.type === 'phase' && each.phase === 'first-image');
    const imagedMs = Math.min(imaged?.t ?? toMs, toMs);
    return [
      {
        who: `the probe of ${fault}`,
        fields: { fault },
        beganMs: fromMs,
        quiet: quietBetween(probedMs, { fromMs, toMs: imagedMs }),
        withinMs: askedWithinMs(scenario.timers.grace),
        ...(imagedMs < toMs && { ends: { atMs: probedMs.slice(-1), dueMs: imagedMs } }),
      },
    ];
  });
}

// Clients, from their plan to the second image.

/** A process for each client is started after its plan: it may begin so much later than it answers. */
const startsWithinMs = 30_000;

function connectionsOf({ client, plan, atMs, writing }: PlannedClient, story: Story): Attendance[] {
  const paceMs = paceMsOf(plan);
  return Array.from({ length: plan.connections }, (_, number) => {
    const { firstUs, lastUs = 0, longest } = writing.connections[number] ?? {};
    const beganMs = firstUs === undefined ? undefined : firstUs / 1000;
    // An idle one opens its sessions and sends nothing.
    const sent =
      plan.rate === 0 || longest === undefined
        ? []
        : [
            { fromMs: longest.fromUs / 1000, toMs: longest.toUs / 1000 },
            { fromMs: lastUs / 1000, toMs: lookedUntilMs(story) },
          ];
    return {
      ...{ who: `the ${client} client’s connection ${number}`, fields: { client }, beganMs },
      quiet: [{ fromMs: atMs + startsWithinMs, toMs: beganMs ?? atMs }, ...sent],
      withinMs: paceMs + answerWithinMs,
    };
  });
}

function beatsOf(
  who: string,
  { client, atMs }: PlannedClient,
  beats: readonly ClientBeatRecord[],
  story: Story,
): Attendance {
  const last = beats.at(-1);
  return {
    ...{ who, fields: { client } },
    ...beating(timesOf(beats), { fromMs: atMs, toMs: last?.t ?? atMs }),
    // It ends when it has to, right before the second image.
    ends: { atMs: last?.last === true ? [last.t] : [], dueMs: lookedUntilMs(story) - beatWithinMs },
  };
}

/** A reader that tries counts up: an answer or a refusal. */
function triesOf({ client, plan, reading }: PlannedClient): Attendance {
  const same = Map.groupBy(
    reading.beats,
    ({ done }) => (done['read'] ?? 0) + (done['refused'] ?? 0),
  );
  return {
    ...{ who: `the ${client} client’s reads`, fields: { client }, beganMs: 0 },
    quiet: [...same.values()].map((each) => ({
      fromMs: each[0]?.t ?? 0,
      toMs: each.at(-1)?.t ?? 0,
    })),
    withinMs: (plan.readEveryMs ?? 0) + answerWithinMs,
  };
}

const clientsOf = ({ story, journals }: Attended): Attendance[] =>
  plannedClients(story, journals).flatMap((planned) => {
    const { client, reads, writing, reading } = planned;
    const who = `the ${client} client`;
    return [
      ...connectionsOf(planned, story),
      beatsOf(who, planned, writing.beats, story),
      ...(reads
        ? [beatsOf(`${who}’s reader`, planned, reading.beats, story), triesOf(planned)]
        : []),
    ];
  });

// The table, and its engine.

const rows: readonly Row[] = [
  { code: 'CERTIFICATE_SILENT', needed: ({ tells }) => tells.ends, of: probesOf },
  ...Object.entries(proofs).map(proven),
  observer('api', hasApi),
  observer('csi', isOneServer),
  observer('mounts', isOneServer),
  observer('devices', hasDevices),
  observer('controller-manager', (story) => isOneServer(story) && story.tells.allSources),
  // The model has no audit log. The servers' log is needed where it is used (`silencesOf`).
  observer('audit', isMeasured),
  {
    code: 'OBSERVER_SILENT',
    needed: (story) => isWatched(story) && !isPredicted(story.run),
    of: machineOf,
  },
  {
    code: 'OBSERVER_SILENT',
    needed: (story) => isWatched(story) && isGroup(story),
    of: groupReadersOf,
  },
  { code: 'CLIENT_GAP', needed: ({ tells }) => tells.plans, of: clientsOf },
];

/** Each absence of a witness that the run needs, of these kinds. */
export const absencesIn = (attended: Attended, ...codes: readonly Row['code'][]): Reason[] =>
  rows
    .filter(({ code, needed }) => codes.includes(code) && needed(attended.story))
    .flatMap(({ code, of }) =>
      of(attended).flatMap((attendance) =>
        absencesOf(attendance).map((words) => because(code, words, attendance.fields)),
      ),
    );

/** When what this source has was not watched, by any one of those who were to. */
export const silencesOf = (story: Story, source: string): string[] =>
  story.faultAtMs === undefined ? [] : observersOf(story, source).flatMap(absencesOf);

function absencesOf({ who, beganMs, quiet, withinMs, ends }: Attendance): string[] {
  if (beganMs === undefined) return [`${who} reported nothing in the whole run`];
  const early = ends?.atMs.filter((t) => t < ends.dueMs) ?? [];
  return [
    ...quiet
      .filter(({ fromMs, toMs }) => toMs - fromMs > withinMs)
      .map(({ fromMs, toMs }) => `${who} was silent ${toldSpan(fromMs, toMs)}`),
    ...early.map((t) => `${who} ended at ${toldInSeconds(t)}, before it was to end`),
    ...(ends?.atMs.length === 0 ? [`${who} never ended in good order`] : []),
  ];
}
