/** Did each client do what it was to do, from its beginning to its end, and is all of it on record? */
import { silencesIn, toldInSeconds, toldSpan } from '../../core/index.ts';
import {
  type ClientBeatRecord,
  type ClientJournal,
  ClientJournals,
  type ClientPlan,
  type ConnectionState,
  beatWithinMs,
  clientSides,
} from '../../history/index.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import type { BlindRead, Patience } from '../timeline/clients.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';

const clientGap = (client: string, words: string): Reason =>
  because('CLIENT_GAP', words, { client });

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
): Reason[] {
  if (!story.tells.plans) return [];
  const plan = story.records.find((record) => record.type === 'workload');
  if (plan === undefined) {
    const reason = 'the history does not say what the clients were to do';
    return clientSides.map((client) => clientGap(client, reason));
  }
  return [...new Set([...clientSides, ...journals.clients])].flatMap((client) => {
    const planned = plan.clients.find((each) => each.client === client);
    const asked = { client, planned, atMs: plan.t, writesOnly };
    return gapsOfClient(story, asked, journals).map((words) => clientGap(client, words));
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

export function blindReads({ tells }: Story, blind: readonly BlindRead[]): Reason[] {
  if (!tells.plans) return [];
  return blind.map((each) => clientGap(each.client, sentenceOf(each)));
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
