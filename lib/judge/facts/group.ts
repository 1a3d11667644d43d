/** What is stated of a replication group: by each member of itself and of the others, by the router, by clients, by the readings at the end. */
import {
  type GroupView,
  type Operation,
  hasQuorum,
  observationsOf,
  routedPrimary,
} from '../../history/index.ts';
import { isGroupRun } from '../group/story.ts';
import { lasting, moment, throughout, wholeRun } from './changes.ts';
import { isWithin, type Span, type Statement, unknown } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';

type Story = Evidence['story'];

const theGroup = 'the group';

/** A member's answer to one client holds until its next one to it. One that did not answer states nothing. */
export type LastingView = GroupView & Span & { readonly asked: string };

export function viewsIn({ observations, endAtMs }: Pick<Story, 'observations' | 'endAtMs'>) {
  const answers = observationsOf(observations, 'member-view');
  const byClient = Map.groupBy(answers, ({ node, data }) => `${data.side} ${node}`);
  return [...byClient.values()].flatMap((own) =>
    own.flatMap(({ node: asked = '?', t: fromMs, data }, index): LastingView[] => {
      const toMs = own[index + 1]?.t ?? endAtMs;
      return data.error === undefined ? [{ ...(data as GroupView), asked, fromMs, toMs }] : [];
    }),
  );
}

/** Views of those that have a majority: of others nothing is known. */
const whole = (story: Story): LastingView[] => viewsIn(story).filter(hasQuorum);

/** Of one server nothing of it is stated. */
const ofGroup =
  (read: Read): Read =>
  (evidence) =>
    isGroupRun(evidence.story.records) ? read(evidence) : undefined;

/** Whose pods run, from before the fault. */
export const membersRun = ofGroup(({ story: { observations, faultAtMs = 0 } }) => ({
  statements: throughout(
    observationsOf(observations, 'pod-running')
      .filter(({ t }) => t < faultAtMs)
      .map(({ node = '?' }) => [node, node] as const),
  ),
}));

export const membersAnswer = ofGroup(({ story }) => ({
  statements: throughout(viewsIn(story).map(({ asked, node }) => [asked, node] as const)),
  ...{ otherwise: 'nobody', sees: wholeRun },
}));

/** Each member states it of all: one is in the group, is not, or is on its way in or out. */
export const membersOnline = ofGroup(({ story }) => {
  const views = whole(story);
  const nodes = new Set(views.flatMap(({ members }) => members.map(({ node }) => node)));
  return {
    statements: views.flatMap(({ members, fromMs, toMs }) =>
      [...nodes].map((item): Statement => {
        const state = members.find(({ node }) => node === item)?.state;
        const value = state === undefined ? 'out' : state === 'ONLINE' ? 'in' : unknown;
        return { item, value, fromMs, toMs };
      }),
    ),
  };
});

/** The run breaks nothing before all are in. */
export const allOnline = ofGroup(({ story: { records, setup } }) => {
  const fault = records.find((record) => record.type === 'phase' && record.phase === 'fault');
  return fault && { statements: (setup?.nodes ?? []).map((node) => moment(node, 'in', fault.t)) };
});

export const primaryByMembers = ofGroup(({ story }) => ({
  statements: whole(story).flatMap(({ fromMs, toMs, ...view }): Statement[] => {
    const value = routedPrimary([view]);
    return value === undefined ? [] : [{ item: theGroup, value, fromMs, toMs }];
  }),
}));

export const primaryByRouter = ofGroup(({ story: { observations, endAtMs } }) => ({
  statements: lasting(
    observationsOf(observations, 'routed').map(({ node = '?', t: atMs }) => ({
      ...{ item: theGroup, value: node, atMs },
    })),
    endAtMs,
  ),
}));

/** A member that takes itself for writable and is none is a second writer: exposure, and no false record. */
export const primaryByClients = ofGroup(({ story, served }) => {
  const own = Map.groupBy(viewsIn(story), ({ node }) => node);
  return {
    statements: served.flatMap(({ server: { node }, ackedMs }) =>
      ackedMs
        .filter((t) => !own.get(node)?.some((view) => !view.superReadOnly && isWithin(view, t)))
        .map((t) => moment(theGroup, node, t)),
    ),
  };
});

/** Where the router sent the clients right before the fault. */
export const victimRouted = ofGroup(({ story: { observations, faultAtMs = 0 } }) => ({
  statements: throughout(
    observationsOf(observations, 'routed')
      .filter(({ t }) => t <= faultAtMs)
      .slice(-1)
      .map(({ node }) => ['victim', node] as const),
  ),
}));

export const membersReadOnly = ofGroup(({ story }) => ({
  statements: viewsIn(story).map(({ node: item, superReadOnly, fromMs, toMs }) => ({
    ...{ item, fromMs, toMs },
    value: superReadOnly ? 'read-only' : unknown,
  })),
}));

export const writesAnswered = ofGroup(({ served }) => ({
  statements: served.flatMap(({ server: { node }, ackedMs }) =>
    ackedMs.map((t) => moment(node, 'takes writes', t)),
  ),
}));

/** Those that the group has in the end, by the last views with a majority. */
export function onlineAtEnd(story: Pick<Story, 'observations' | 'endAtMs'>): ReadonlySet<string> {
  const last = viewsIn(story).filter((view) => isWithin(view, story.endAtMs) && hasQuorum(view));
  return new Set(
    last.flatMap(({ members }) =>
      members.flatMap(({ node, state }) => (state === 'ONLINE' ? [node] : [])),
    ),
  );
}

export const membersToCompare = ofGroup(({ story }) => ({
  statements: throughout([...onlineAtEnd(story)].map((node) => [node, 'read'] as const)),
}));

/** A member that is behind the primary holds less, and is not compared with it. */
export const membersCompared = ofGroup(({ story }) => ({
  statements: throughout(comparedMembers(story).map(({ node }) => [node, 'read'] as const)),
  ...{ otherwise: 'not read', sees: wholeRun },
}));

export function comparedMembers({ observations }: Pick<Story, 'observations'>) {
  const readings = observationsOf(observations, 'ledger-read').filter(
    ({ data }) => data.image !== 'first' && data.checksums !== undefined,
  );
  const primary = readings.find(({ data }) => data.image === 'second');
  return primary === undefined
    ? []
    : readings
        .map(({ node = '?', data: { gtids, beyond = '', checksums } }) => ({
          node,
          isBehind: gtids !== primary.data.gtids && beyond === '',
          agrees: checksums?.join() === primary.data.checksums?.join(),
        }))
        .filter(({ isBehind, agrees }) => agrees || !isBehind);
}

/** An acknowledgement by a member that another one had replaced, by what clients were answered. */
export interface BothWrote {
  readonly node: string;
  readonly atMs: number;
  readonly other: string;
  readonly otherAtMs: number;
}

/** One that the group made the primary again may write again. */
export function bothWroteIn(story: Story, ops: Iterable<Operation>): BothWrote | undefined {
  const acks = [...ops]
    .flatMap(({ outcome, endedAtMs: atMs, server }) =>
      outcome === 'ok' && atMs !== undefined && server !== undefined
        ? [{ node: server.node, atMs }]
        : [],
    )
    .toSorted((a, b) => a.atMs - b.atMs);
  // A member that was away takes itself for the primary for a while.
  const named = whole(story)
    .map((view) => ({ ...view, primary: routedPrimary([view]) }))
    .filter(({ node, primary }) => node !== primary);
  const replaced = new Map<string, { readonly other: string; readonly otherAtMs: number }>();
  let current: string | undefined;
  for (const { node, atMs } of acks) {
    if (node === current) continue;
    const by = replaced.get(node);
    const isAgain = named.some(
      ({ primary, fromMs }) =>
        primary === node && by !== undefined && fromMs > by.otherAtMs && fromMs <= atMs + foundMs,
    );
    if (by !== undefined && !isAgain) return { node, atMs, ...by };
    if (current !== undefined) replaced.set(current, { other: node, otherAtMs: atMs });
    replaced.delete(node);
    current = node;
  }
  return undefined;
}

/** A member is asked so often, and has so long to answer (lib/kind/group/observe-group.ts). */
const foundMs = 1500;
