/** Forced detaches, by the mounts, by the controller manager's log and by its counter. */
import { plural } from '../../core/index.ts';
import { type ObservationRecord, csiCalls, isGranted, observed } from '../../history/index.ts';
import { note } from '../checkers/checker.ts';
import type { Finding } from '../verdict/verdict.ts';
import { type Story, afterFault, victimOffMs } from './story.ts';

const reasons = ['timeout', 'out-of-service'] as const;
export type ForceReason = (typeof reasons)[number];

/** The line comes right before the VolumeAttachment is deleted. */
const beforeDetachMs = 15_000;
/** One start leaves several lines. */
const sameStartMs = 2_000;

/** Where log, counter and mounts differ. */
export function forcedDetachFindings(story: Story): Finding[] {
  const since = story.observations.filter(({ t }) => t >= (story.faultAtMs ?? Infinity));
  const lines = since.filter(({ name }) => name === observed.forceDetachLog);
  const detaches = since.filter(isGranted(csiCalls.unpublish)).flatMap(({ node, t }) => {
    if (node === undefined) return [];
    const line = lines.findLast(
      (each) => each.t <= t && each.t >= t - beforeDetachMs && namesNode(each, node),
    );
    const logged = line === undefined ? 'an ordinary detach' : reasonIn(line);
    const words = `${node}, ${afterFault(t, story)}, logged as ${logged}`;
    return { isLogged: line !== undefined, wasMounted: wasMounted(node, t, story), words };
  });
  const odd = detaches.filter(({ isLogged, wasMounted }) => isLogged !== wasMounted);
  const { idle = [], silent = [] } = Object.groupBy(odd, ({ isLogged }) =>
    isLogged ? 'idle' : 'silent',
  );
  const findings: Finding[] = [];
  const add = (code: string, summary: string, all: typeof detaches): void => {
    const evidence = all.map(({ words }) => words);
    if (all.length > 0) findings.push(note(code, summary, evidence));
  };
  const forced = `the controller manager calls ${plural(idle.length, 'detach')} forced`;
  add('FORCED_WITHOUT_MOUNT', `${forced} of a volume that nobody had mounted any more`, idle);
  const taken = 'a volume was taken from a node that had it mounted';
  add('FORCED_UNSAID', `${taken}, and the controller manager calls it no forced detach`, silent);
  return [...findings, ...miscounted(story, since, lines)];
}

const reasonIn = ({ data }: ObservationRecord): ForceReason =>
  String(data.line).includes('out-of-service') ? 'out-of-service' : 'timeout';

/** kind: `node="a"`; a line without a node's name is taken for the only one. */
const namesNode = ({ node, data }: ObservationRecord, wanted: string): boolean =>
  node === wanted ||
  !String(data.line).includes('node=') ||
  String(data.line).includes(`node="${wanted}"`);

/** A machine that is off has nothing mounted. */
function wasMounted(on: string, atMs: number, story: Story): boolean {
  const { observations, victimNode } = story;
  const last = observations.findLast(
    ({ name, node, t }) =>
      node === on && t < atMs && (name === observed.mounted || name === observed.unmounted),
  );
  const isOff = on === victimNode && atMs >= (victimOffMs(story) ?? Infinity);
  return last?.name === observed.mounted && !isOff;
}

/** A controller manager that starts anew counts from 0. */
function miscounted(
  { observations, faultAtMs = Infinity }: Story,
  since: readonly ObservationRecord[],
  lines: readonly ObservationRecord[],
): Finding[] {
  const readings = observations.filter(({ name }) => name === observed.forceDetachMetric);
  const before = readings.findLast(({ t }) => t < faultAtMs);
  const after = readings.filter(({ t }) => t >= faultAtMs);
  // Older histories have one reading, at the end, of a counter that a kept cluster began with.
  if (before === undefined || after.length === 0) return [];
  const counts = reasons.map((reason) => {
    let counted = 0;
    let last = Number(before.data[reason]);
    for (const { data } of after) {
      const now = Number(data[reason]);
      counted += now >= last ? now - last : now;
      last = now;
    }
    const logged = lines.filter((line) => reasonIn(line) === reason).length;
    return { reason, counted, logged };
  });
  if (counts.every(({ counted, logged }) => counted === logged)) return [];
  const starts = since.filter(({ name }) => name === observed.leaderAcquired);
  const restarts = starts.filter(
    ({ t }, at) => t - (starts[at - 1]?.t ?? -Infinity) > sameStartMs,
  ).length;
  return [
    note('FORCED_COUNT_DIFFERS', 'the counter of forced detaches and the log disagree', [
      ...counts.map(
        ({ reason, counted, logged }) => `${reason}: counter ${counted}, log ${logged}`,
      ),
      `the controller manager began anew ${restarts} times, which sets its counter to 0`,
    ]),
  ];
}
