/** What the storage's witnesses state: the disk's log of writes, devices, mounts, the driver. */
import {
  type Observation,
  csiCalls,
  isCall,
  isGranted,
  observationsOf,
} from '../../history/index.ts';
import { bootsAtHeal, endsMachine, isDirectory, takesAttachment } from '../../scenario/index.ts';
import { callEndMs, locksExclude } from '../timeline/story.ts';
import { claimedFaults, otherVictimOf, stepsOf } from './acts.ts';
import { type Change, bursts, lasting, moment, whileAny } from './changes.ts';
import { type Statement, unknown } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';
import { type Logged, pathItem } from './log.ts';

// The disk's log of writes.

const logged =
  (read: (log: Logged) => readonly Statement[], otherwise?: string): Read =>
  ({ log, watched }) =>
    log && {
      statements: read(log),
      ...(otherwise === undefined ? {} : { otherwise }),
      sees: { fromMs: 0, toMs: Math.min(log.untilMs, watched.toMs) },
    };

export const logPaths = logged(
  ({ paths }) =>
    paths.map(({ generation, ...span }) => ({
      ...{ item: pathItem(generation), value: 'open' },
      ...span,
    })),
  'closed',
);
export const logAccess = logged(
  ({ paths }) => paths.map(({ node, ...span }) => ({ item: node, value: 'open', ...span })),
  'closed',
);
export const logCuts: Read = (evidence) =>
  logged(({ cuts }) => lasting(cuts, evidence.watched.toMs), 'whole')(evidence);
export const logCounts = logged(({ counts }) => counts);
export const logWriting = logged(
  ({ writing }) => [...writing].flatMap(([node, times]) => bursts(node, 'writing', times)),
  'idle',
);

// The devices: a counter of each path, read ten times a second, and cuts.

type Counted = Observation<'device-written' | 'device-cut'> & { readonly node: string };

export const countersIn = ({ story }: Pick<Evidence, 'story'>): Counted[] =>
  observationsOf(story.observations, 'device-written', 'device-cut').filter(
    (seen): seen is Counted => seen.node !== undefined && seen.data.bytesWritten !== undefined,
  );

export const hasDevices = ({ story }: Pick<Evidence, 'story'>): boolean =>
  !isDirectory(story.scenario.disk.mode);
export const keyOf = ({ node, data }: Counted): string =>
  [node, data.device, data.generation ?? ''].join('/');

/** When each path's counter was seen to grow. */
export function growthsIn(evidence: Pick<Evidence, 'story'>): Counted[] {
  const last = new Map<string, number>();
  return countersIn(evidence).filter((seen) => {
    const bytes = seen.data.bytesWritten ?? 0;
    const grew = bytes > (last.get(keyOf(seen)) ?? 0);
    last.set(keyOf(seen), bytes);
    return grew;
  });
}

const growthOf =
  (item: (seen: Counted) => string): Read =>
  (evidence) =>
    hasDevices(evidence)
      ? { statements: growthsIn(evidence).map((seen) => moment(item(seen), 'open', seen.t)) }
      : undefined;

const ofPath = ({ data }: Counted): string => pathItem(data.generation);
const onNode = ({ node }: Counted): string => node;

export const growthOfPaths = growthOf(ofPath);
export const growthOnNodes = growthOf(onNode);

export const devicesWriting: Read = (evidence) => {
  if (!hasDevices(evidence)) return undefined;
  const byNode = Map.groupBy(growthsIn(evidence), onNode);
  const statements = [...byNode].flatMap(([node, all]) =>
    bursts(
      node,
      'writing',
      all.map(({ t }) => t),
    ),
  );
  return { statements, otherwise: 'idle', sees: countedFor(evidence) };
};

/** From the first count on. */
const countedFor = (evidence: Evidence) => ({
  fromMs: countersIn(evidence)[0]?.t ?? evidence.watched.toMs,
  toMs: evidence.watched.toMs,
});

export const deviceCuts: Read = (evidence) => {
  const cuts = observationsOf(evidence.story.observations, 'device-cut');
  const changes = cuts.map(
    ({ data, t }): Change => ({
      ...{ item: pathItem(data.generation), value: 'cut', atMs: t },
    }),
  );
  return hasDevices(evidence)
    ? {
        statements: lasting(changes, evidence.watched.toMs),
        otherwise: 'whole',
        sees: countedFor(evidence),
      }
    : undefined;
};

/** What a call cuts stays cut. Of cuts that nobody asked the driver for it says nothing. */
export const driverCuts: Read = ({ story, watched }) => ({
  statements: observationsOf(story.observations, 'csi-call').flatMap((call) =>
    (call.data.cut ?? []).map(({ generation }) => ({
      ...{ item: pathItem(generation), value: 'cut' },
      ...{ fromMs: callEndMs(call), toMs: watched.toMs },
    })),
  ),
});

/** A path that its node stages again counts from nothing. */
export const deviceCounts: Read = (evidence) => {
  if (!hasDevices(evidence)) return undefined;
  const stages = evidence.story.observations.filter(isCall(csiCalls.stage));
  const before = new Map<
    string,
    { readonly atMs: number; readonly bytes: number; readonly base: number }
  >();
  const statements = countersIn(evidence).map((seen) => {
    const { t, node, data } = seen;
    const bytes = data.bytesWritten ?? 0;
    const last = before.get(keyOf(seen)) ?? { atMs: t, bytes: 0, base: 0 };
    const isAnew =
      bytes < last.bytes &&
      stages.some(
        (stage) => stage.node === node && stage.t >= last.atMs - lateMs && stage.t <= t + lateMs,
      );
    const base = isAnew ? last.base + last.bytes : last.base;
    before.set(keyOf(seen), { atMs: t, bytes, base });
    return moment(ofPath(seen), base + bytes, t);
  });
  return { statements, sees: countedFor(evidence) };
};

/** Observers look ten times a second on kind, and a busy machine looks late. */
const lateMs = 15_000;

/** While the node's link to its storage stalls or fails, the disk takes nothing of it. */
export const linkStates: Read = (evidence) => {
  const changes = observationsOf(evidence.story.observations, 'link-changed').flatMap(
    ({ node, t, data }): Change[] =>
      node === undefined
        ? []
        : [{ item: node, value: data.state === 'pass' ? unknown : 'closed', atMs: t }],
  );
  return { statements: lasting(changes, evidence.watched.toMs) };
};

// The mounts.

export const mountsSeen: Read = ({ story, watched }) => {
  const changes = whileAny(
    observationsOf(story.observations, 'mounted', 'unmounted').map(
      ({ name, node = '?', t, data }) => ({
        ...{ item: node, member: data.generation, atMs: t },
        comes: name === 'mounted',
      }),
    ),
    ['mounted', 'not mounted'],
  );
  return { statements: lasting(changes, watched.toMs), otherwise: 'not mounted', sees: watched };
};

/** Only what has a path to the disk can be mounted. */
export const mountsOpen: Read = ({ story }) =>
  locksExclude(story)
    ? undefined
    : {
        statements: observationsOf(story.observations, 'mounted').map(({ node = '?', t }) =>
          moment(node, 'open', t),
        ),
      };

// The driver's calls.

/** What calls leave each node with. The victim's own came before the observers, unless they have others. */
function callsLeave(
  { story, watched }: Evidence,
  [granted, taken]: readonly [granted: string, taken: string],
  [give, take]: readonly [
    give: Parameters<typeof isGranted>[0],
    take: Parameters<typeof isGranted>[0],
  ],
): Change[] {
  const { observations, victimNode } = story;
  const changes = (call: typeof give, value: string): Change[] =>
    observations
      .filter(isGranted(call))
      .flatMap((seen) =>
        seen.node === undefined ? [] : [{ item: seen.node, value, atMs: callEndMs(seen) }],
      );
  const isKnown = observations.some((seen) => seen.t < watched.fromMs && isGranted(give)(seen));
  const first: Change[] =
    victimNode === undefined || isKnown ? [] : [{ item: victimNode, value: granted, atMs: 0 }];
  return [...first, ...changes(give, granted), ...changes(take, taken)];
}

/**
 * A machine that is off has nothing mounted, and asked nobody: from a fault or the remedy on, or for a moment
 * at the heal.
 */
function powerLosses(story: Evidence['story']): Change[] {
  const { scenario, victimNode, faultAtMs, healAtMs, remedy, switchedOffMs } = story;
  const { kind } = scenario.fault;
  if (victimNode === undefined || faultAtMs === undefined) return [];
  const other = endsMachine(scenario.also.kind) ? otherVictimOf(story) : undefined;
  return [
    ...(bootsAtHeal(kind)
      ? [{ item: victimNode, atMs: endsMachine(kind) ? faultAtMs + 1 : healAtMs }]
      : []),
    ...(remedy === undefined || switchedOffMs === undefined
      ? []
      : [{ item: victimNode, atMs: remedy.t + 1 }]),
    ...(other === undefined ? [] : [{ item: other.node, atMs: other.span.beginMs + 1 }]),
  ].map((lost) => ({ ...lost, value: unknown }));
}

function mountsByCalls(evidence: Evidence): Statement[] {
  const { story, watched } = evidence;
  const calls = isDirectory(story.scenario.disk.mode)
    ? ([csiCalls.nodePublish, csiCalls.nodeUnpublish] as const)
    : ([csiCalls.stage, csiCalls.unstage] as const);
  const changes = callsLeave(evidence, ['mounted', 'not mounted'], calls);
  return lasting([...changes, ...powerLosses(story)], watched.toMs);
}

/** A pod is given what is mounted. */
export const publishedOn: Read = ({ story }) => ({
  statements: story.observations
    .filter(isGranted(csiCalls.nodePublish))
    .map((call) => moment(call.node ?? '?', 'mounted', callEndMs(call))),
});

export const driverMounts: Read = (evidence) => ({
  statements: mountsByCalls(evidence),
  otherwise: 'not mounted',
});

/** Who strips an attachment's finalizer asks no driver, and a shared directory is not attached. */
export const driverAttachments: Read = (evidence) => {
  const { remedy, disk } = evidence.story.scenario;
  if (remedy.kind === 'strip-attachment-finalizer' || isDirectory(disk.mode)) return undefined;
  const calls = [csiCalls.publish, csiCalls.unpublish] as const;
  const changes = callsLeave(evidence, ['attached', 'not attached'], calls);
  return { statements: lasting(changes, evidence.watched.toMs), otherwise: 'not attached' };
};

/** A staged volume has a path to the disk. */
const stagesIn = ({ story }: Evidence): Observation<'csi-call'>[] =>
  isDirectory(story.scenario.disk.mode) ? [] : story.observations.filter(isGranted(csiCalls.stage));

export const stagedPaths: Read = (evidence) => ({
  statements: stagesIn(evidence).flatMap((call) =>
    call.node === undefined || call.data.generation === undefined
      ? []
      : [moment(pathItem(call.data.generation), 'open', callEndMs(call))],
  ),
});
/** What is staged has a path to the disk, and what is unstaged has none until it is staged again. */
export const stagedNodes: Read = (evidence) => {
  const { story, watched } = evidence;
  if (!hasDevices(evidence)) return undefined;
  const [stages, unstages] = [csiCalls.stage, csiCalls.unstage].map((call) =>
    story.observations.filter(isGranted(call)),
  );
  const changes = [
    ...(stages ?? []).map(({ node = '?', t }): Change => ({ item: node, value: unknown, atMs: t })),
    ...(unstages ?? []).map(
      (call): Change => ({ item: call.node ?? '?', value: 'closed', atMs: callEndMs(call) }),
    ),
  ];
  const opened = (stages ?? []).map((call) => moment(call.node ?? '?', 'open', callEndMs(call)));
  return { statements: [...opened, ...lasting(changes, watched.toMs)] };
};

/** A detach of a node that has the volume mounted is forced, unless a remedy or a boot took it away. */
export const driverDetaches: Read = (evidence) => {
  const { observations, scenario } = evidence.story;
  if (takesAttachment(scenario.remedy.kind)) return undefined;
  const mounts = mountsByCalls(evidence);
  const isMounted = (node: string | undefined, atMs: number): boolean =>
    mounts.some(
      ({ item, value, fromMs, toMs }) =>
        item === node && value !== 'not mounted' && fromMs < atMs && atMs <= toMs,
    );
  const forced = observations
    .filter(isGranted(csiCalls.unpublish))
    .filter(({ t, node }) => isMounted(node, t) && !hasBooted(evidence.story, node, t));
  return { statements: forced.map(({ node = '?', t }) => moment(node, 'forced', t)) };
};

const hasBooted = (story: Evidence['story'], node: string | undefined, atMs: number): boolean =>
  claimedFaults(story).some(
    ({ name, kind }) =>
      (bootsAtHeal(kind) || (name === story.faultName && story.switchedOffMs !== undefined)) &&
      stepsOf(story, 'fault').some(
        (each) =>
          each.name === name && each.step === 'heal' && each.node === node && each.t <= atMs,
      ),
  );

// Each path is one node's for ever. A shared directory has none.

interface OfPath {
  readonly node?: string;
  readonly data: { readonly generation?: number | undefined };
}

const owners = (evidence: Evidence, records: readonly OfPath[]): Statement[] => {
  const seen = new Map<string, Statement>();
  for (const { node, data } of records) {
    if (node === undefined || data.generation === undefined) continue;
    const span = { fromMs: 0, toMs: evidence.watched.toMs };
    seen.set(`${data.generation}/${node}`, {
      item: pathItem(data.generation),
      value: node,
      ...span,
    });
  }
  return [...seen.values()];
};

export const logOwners = logged(({ owners: known }) => known);
export const ownersSeen =
  (...names: readonly ('device-written' | 'device-cut' | 'mounted' | 'unmounted')[]): Read =>
  (evidence) =>
    hasDevices(evidence)
      ? { statements: owners(evidence, observationsOf(evidence.story.observations, ...names)) }
      : undefined;
export const ownersByCalls: Read = (evidence) => {
  if (!hasDevices(evidence)) return undefined;
  const [publishes, stages] = [csiCalls.publish, csiCalls.stage].map((call) =>
    evidence.story.observations.filter(isGranted(call)),
  );
  return { statements: owners(evidence, [...(publishes ?? []), ...(stages ?? [])]) };
};
