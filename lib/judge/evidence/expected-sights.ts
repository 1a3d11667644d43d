/**
 * What an observer must have seen, because of what others saw: who beats and is blind is found by what
 * must have happened. An attached volume has an attachment, a replaced pod went away, a detach without
 * an unmount was forced, a counter never runs backwards.
 */
import { isDirectory, losesPower, takesAttachment } from '../../scenario/index.ts';
import { toldInSeconds, toldSpan } from '../../core/index.ts';
import {
  type ObservationRecord,
  csiCalls,
  isCall,
  isGranted,
  observed,
} from '../../history/index.ts';
import { lookedUntilMs, type Story } from '../timeline/story.ts';
import type { UnseenCommits, UnseenOptions } from '../timeline/unseen-commits.ts';

/** What leads to a call is seen before it; watches and logs come so much late on a busy machine. */
const sightWithinMs = 30_000;

/**
 * Observers look ten times a second on kind, and a busy machine looks late. Where the log is synced
 * once a second only, what was acknowledged reaches the disk so much later.
 */
const deviceWithinMs = 15_000;

/** Commits whose blocks the devices' observer must have seen. A shared directory has no device. */
export const commitsToBeSeen = (story: Story): UnseenOptions => ({
  observations: story.observations,
  withinMs: deviceWithinMs,
  untilMs: isDirectory(story.scenario.disk.mode) ? 0 : lookedUntilMs(story),
});

export function expectedSights(story: Story, unseen: readonly UnseenCommits[]): string[] {
  if (!story.tells.allSources) return [];
  return sightsMissed(story, unseen);
}

/** The same of any history. */
export function sightsMissed(story: Story, unseen: readonly UnseenCommits[]): string[] {
  const {
    fault: { kind: fault },
    also: { kind: also },
  } = story.scenario;
  // Where the API server answers nobody, its observer sees nothing.
  const isApiSeen = fault !== 'api-outage' && also !== 'api-outage';
  return [
    ...unseen.map(
      ({ node, count, fromMs, toMs }) =>
        `${count} commits were acknowledged on ${node} ${toldSpan(fromMs, toMs)}, ` +
        'and the devices’ observer saw nothing written there',
    ),
    ...backwards(story),
    ...(isApiSeen ? [...attachments(story), ...replacedPods(story)] : []),
    ...callsNotTold(story),
    ...forcedDetaches(story),
  ];
}

/** A counter belongs to a path, and begins anew only where the node stages it again. */
function backwards({ observations }: Story): string[] {
  const stages = observations.filter(isCall(csiCalls.stage));
  const last = new Map<string, ObservationRecord>();
  const found = new Map<string, string>();
  for (const seen of observations) {
    const { name, node = '', t, data } = seen;
    if (name !== observed.deviceWritten) continue;
    const path = `${data.device} (generation ${String(data.generation)}) on ${node}`;
    const before = last.get(path);
    last.set(path, seen);
    if (before === undefined || bytesOf(seen) >= bytesOf(before)) continue;
    const isStaged = stages.some(
      (stage) => stage.node === node && stage.t >= before.t && stage.t <= t + deviceWithinMs,
    );
    if (isStaged || found.has(path)) continue;
    found.set(
      path,
      `${path} had ${bytesOf(before)} bytes written, and at ${toldInSeconds(t)} ${bytesOf(seen)}`,
    );
  }
  return [...found.values()];
}

const bytesOf = ({ data }: ObservationRecord): number => Number(data.bytesWritten);

/** From the fault on, but for what may be seen only after the end. */
const sinceFault = ({ observations, faultAtMs = 0, ...span }: Story): ObservationRecord[] =>
  observations.filter(({ t }) => t >= faultAtMs && t < lookedUntilMs(span) - sightWithinMs);

/** The driver attaches and detaches for a VolumeAttachment only. */
function attachments(story: Story): string[] {
  const { observations, faultAtMs = 0 } = story;
  const seen = (node: string | undefined, fromMs: number, ...names: readonly string[]): boolean =>
    observations.some(
      (each) => each.node === node && each.t >= fromMs && names.includes(each.name),
    );
  return [
    ...sinceFault(story)
      .filter(isGranted(csiCalls.publish))
      .filter(({ node }) => !seen(node, 0, observed.attachmentAttached))
      .map((call) => missed(call, 'attached the volume to')),
    ...sinceFault(story)
      .filter(isGranted(csiCalls.unpublish))
      .filter(
        ({ node }) => !seen(node, faultAtMs, observed.attachmentDeleting, observed.attachmentGone),
      )
      .map((call) => missed(call, 'detached the volume from')),
  ];
}

const missed = ({ node = 'a node', t }: ObservationRecord, what: string): string =>
  `the driver ${what} ${node} at ${toldInSeconds(t)}, and the API’s observer reported nothing`;

/** An attachment comes and goes with the driver's answer; who strips its finalizer asks nobody. */
function callsNotTold(story: Story): string[] {
  const { observations, scenario, faultAtMs = 0 } = story;
  const [publishes, unpublishes] = [csiCalls.publish, csiCalls.unpublish].map((call) =>
    observations.filter(isCall(call)),
  );
  const isTold = (
    calls: readonly ObservationRecord[] = [],
    { node, t }: ObservationRecord,
    fromMs: number,
  ): boolean =>
    calls.some((each) => each.node === node && each.t >= fromMs && each.t <= t + sightWithinMs);
  const seen = sinceFault(story);
  const attached = seen.filter(
    (each) => each.name === observed.attachmentAttached && !isTold(publishes, each, 0),
  );
  const gone = seen.filter(
    (each) =>
      each.name === observed.attachmentGone &&
      scenario.remedy.kind !== 'strip-attachment-finalizer' &&
      !isTold(unpublishes, each, faultAtMs),
  );
  return [
    ...attached.map((each) => untold(each, 'attached to', csiCalls.publish)),
    ...gone.map((each) => untold(each, 'detached from', csiCalls.unpublish)),
  ];
}

const untold = ({ node = 'a node', t }: ObservationRecord, what: string, call: string): string =>
  `the API says that the volume was ${what} ${node} by ${toldInSeconds(t)}, and the driver reports no ${call}`;

/** Two pods of one name are there one after the other. */
function replacedPods({ observations }: Story): string[] {
  const created = observations.filter(({ name }) => name === observed.podCreated);
  return created.flatMap(({ data, t }, index) => {
    const before = created
      .slice(0, index)
      .findLast((other) => other.data.pod === data.pod && other.data.uid !== data.uid);
    const isGone = observations.some(
      ({ name, data: gone }) =>
        name === observed.podGone && before !== undefined && gone['uid'] === before.data.uid,
    );
    return before === undefined || isGone
      ? []
      : [
          `pod ${String(data.pod)} was recreated at ${toldInSeconds(t)}, and no observer reported the one ` +
            'before it go',
        ];
  });
}

/**
 * A node that has not unstaged the volume loses it only by force: after the wait, or by the taint. A
 * remedy that deletes the attachment itself asks nobody; a node that booted again has nothing mounted.
 */
function forcedDetaches(story: Story): string[] {
  const { observations, scenario, faultAtMs = 0 } = story;
  if (takesAttachment(scenario.remedy.kind)) return [];
  const logged = observations.filter(
    ({ name, t }) => name === observed.forceDetachLog && t >= faultAtMs,
  );
  const unstages = observations.filter(isGranted(csiCalls.unstage));
  return sinceFault(story)
    .filter(isGranted(csiCalls.unpublish))
    .filter(
      ({ node, t }) =>
        !hasBooted(story, node, t) &&
        !unstages.some((each) => each.node === node && each.t <= t) &&
        !logged.some((each) => each.t <= t + sightWithinMs),
    )
    .map(
      ({ node = 'a node', t }) =>
        `the volume was detached from ${node} at ${toldInSeconds(t)} with no unmount before it, ` +
        'and the log of the controller manager has no forced detach',
    );
}

const hasBooted = (
  { records, scenario, faultName }: Story,
  node: string | undefined,
  atMs: number,
): boolean =>
  losesPower(scenario.fault.kind) &&
  records.some(
    (record) =>
      record.type === 'action' &&
      record.name === faultName &&
      record.step === 'heal' &&
      record.node === node &&
      record.t <= atMs,
  );
