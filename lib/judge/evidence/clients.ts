/** What each client was to do, and where its plan, its journal and its answers contradict each other. */
import { toldInSeconds } from '../../core/index.ts';
import {
  type ClientJournal,
  type ClientJournals,
  type ClientPlan,
  clientSides,
} from '../../history/index.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import { isGroupRun } from '../group/story.ts';
import type { BlindRead, Patience } from '../timeline/clients.ts';
import type { Story } from '../timeline/story.ts';

const clientGap = (client: string, words: string): Reason =>
  because('CLIENT_GAP', words, { client });

/**
 * Beyond its pace a connection is silent no longer than this: a lost session is opened anew after 2 s
 * at most, a connect is given up after 2 s, an operation after 5 s and its rollback after 5 s more
 * (lib/run/workload.ts, the database’s session); the rest is what a busy machine adds. In 139 runs on kind it was
 * never more than 5.6 s.
 */
export const answerWithinMs = 30_000;

/** How long a connection waits between two operations. */
export const paceMsOf = ({
  rate,
  connections,
}: Pick<ClientPlan, 'rate' | 'connections'>): number =>
  rate === 'max' || rate === 0 ? 0 : (connections * 1000) / rate;

export interface PlannedClient {
  readonly client: string;
  readonly plan: ClientPlan;
  /** When that was recorded. */
  readonly atMs: number;
  /** It is to read back what it wrote. */
  readonly reads: boolean;
  readonly writing: ClientJournal;
  readonly reading: ClientJournal;
}

const planOf = ({ records }: Story) => records.find((record) => record.type === 'workload');

const clientsIn = (journals: ClientJournals): string[] => [
  ...new Set([...clientSides, ...journals.clients]),
];

export function plannedClients(story: Story, journals: ClientJournals): PlannedClient[] {
  const planned = planOf(story);
  return clientsIn(journals).flatMap((client) => {
    const plan = planned?.clients.find((each) => each.client === client);
    if (planned === undefined || plan === undefined) return [];
    const [writing, reading] = [journals.of(client, 'writing'), journals.of(client, 'reading')];
    const reads = plan.rate !== 0 && plan.readEveryMs !== undefined;
    return [{ client, plan, reads, atMs: planned.t, writing, reading }];
  });
}

/** What plan, scenario and journals state differently. */
export function planGaps(story: Story, journals: ClientJournals): Reason[] {
  if (!story.tells.plans) return [];
  const planned = plannedClients(story, journals);
  const hasPlan = planOf(story) !== undefined;
  const lacking = clientsIn(journals)
    .filter((client) => !planned.some((each) => each.client === client))
    .map((client) => clientGap(client, hasPlan ? `the plan lacks the ${client} client` : noPlan));
  const gaps = planned.flatMap(({ client, plan, reads, atMs, writing, reading }) => {
    const strange = Object.entries(writing.connections).flatMap(
      ([number, { firstUs = Infinity }]) => [
        ...(Number(number) < plan.connections ? [] : [`the plan lacks its connection ${number}`]),
        ...(firstUs / 1000 < atMs - 1 ? [`its connection ${number} began before its plan`] : []),
      ],
    );
    return [
      ...(isAsScenario(story, plan) ? [] : [' was to do what no scenario asks']),
      ...[...writing.oddities(), ...strange].map((what) => `’s journal: ${what}`),
      ...(reads ? reading.oddities() : []).map((what) => `’s reads: ${what}`),
    ].map((what) => clientGap(client, `the ${client} client${what}`));
  });
  return [...lacking, ...gaps];
}

const noPlan = 'the history does not say what the clients were to do';

/** A group's clients read nothing back: others read its members. */
const isAsScenario = (
  { scenario: { load }, records }: Story,
  { rate, connections, readEveryMs }: ClientPlan,
): boolean =>
  rate === load.rate &&
  connections === load.connections &&
  (readEveryMs !== undefined || load.rate === 0 || isGroupRun(records));

/** Longer without an acknowledgement, beyond its pace: a client was not served all the time. */
const servedBreakMs = 10_000;

/** By client: how long it may be served and read nothing. */
export const blindAfter = (story: Story): ReadonlyMap<string, Patience> =>
  new Map(
    (planOf(story)?.clients ?? []).flatMap(({ client, rate, readEveryMs }) => {
      if (readEveryMs === undefined) return [];
      const breakMs = paceMsOf({ rate, connections: 1 }) + servedBreakMs;
      return [[client, { breakMs, blindMs: readEveryMs + breakMs + answerWithinMs }] as const];
    }),
  );

export function blindReads({ tells }: Story, blind: readonly BlindRead[]): Reason[] {
  if (!tells.plans) return [];
  return blind.map(({ client, what, count, atMs, node }) => {
    const reads = `${count} ${count === 1 ? 'read' : 'reads'} of the ${client} client on ${node}`;
    const at = toldInSeconds(atMs);
    const words = {
      'no-row': `${reads} saw an empty ledger (the first at ${at}), which had commits by then`,
      'older-row': `${reads} saw a row (the first at ${at}) that was not the newest of those acknowledged there`,
      'no-answer': `the ${client} client was served by ${node} from ${at} on, and read nothing`,
    } as const;
    return clientGap(client, words[what]);
  });
}
