/**
 * Facts of a volume in a trial or under a cut, each with its witnesses: one table, as of a run (lib/judge/facts/table.ts).
 * The probe's records are compared by it alone, and the attacks on them are made from it.
 */
import {
  type FactRow,
  type Reason,
  type Statement,
  type Witnessed,
  disagreementReason,
  disagreementsOf,
} from '../../judge/index.ts';
import { answeredMs } from './heard.ts';
import type { AttachmentSeen, CutRecord, TrialRecord } from './record.ts';

/** What the plan of trials or of a cut asks for. */
export interface Planned {
  readonly nodes: readonly [string, string];
  /** A shorter watch proves nothing. Default: any. */
  readonly horizonMs?: number;
  readonly healAfterMs?: number;
}

/** Whose records they are, in a sentence. */
export const witnesses = {
  plan: 'the plan',
  runner: 'the probe',
  journals: 'the pod’s journal',
  lines: 'the lines of its journal',
  next: 'the next pod, from the disk',
  pods: 'the pods’ observer',
  attachments: 'the attachment’s observer',
  nextAttachment: 'the next attachment’s observer',
  end: 'the observer of its end',
  looks: 'the second node',
  arming: 'its host before the cut',
  healing: 'its host after the heal',
} as const;
export type Witness = keyof typeof witnesses;

/** All records of one volume, and of the cut that it was under. */
interface Evidence extends TrialRecord, Partial<CutRecord> {
  readonly plan: Planned;
  /** The attachment that is detached. */
  readonly old: AttachmentSeen | undefined;
  /** Of a trial whose attachment is deleted: else Kubernetes decides when. */
  readonly isDetach: boolean;
}

interface Row extends Witnessed<Evidence> {
  /** Fields that it is read from. */
  readonly of: readonly (keyof Evidence)[];
}

interface Fact extends FactRow<Witness, Row> {
  /** A disagreement tells of the driver, not of the records: no known mode does so. */
  readonly isOfDriver?: true;
}

type States = (evidence: Evidence) => readonly (Statement | undefined)[];
const row =
  (lateMs: number, earlyMs = lateMs) =>
  (of: readonly (keyof Evidence)[], states: States): Row => ({
    ...{ lateMs, earlyMs, of },
    read: (evidence) => ({ statements: states(evidence).filter((each) => each !== undefined) }),
  });

/** Undefined where one of its ends or its value is not known: a pod that is not scheduled has no node. */
const from = (
  item: string,
  value: string | undefined,
  fromMs: number | undefined = Infinity,
  toMs = Infinity,
): Statement | undefined =>
  value === undefined || value === '' || fromMs >= toMs ? undefined : { item, value, fromMs, toMs };
const moment = (item: string, value: string | number, atMs: number): Statement => ({
  ...{ item, value, fromMs: atMs, toMs: atMs },
});

const [first, second] = ['the first pod', 'the next pod'];
const [node, volume] = ['the node', 'the volume'];
const [attachment, detach] = ['the attachment', 'its detach'];

const exact = row(1000);
const certain = row(0);
/** A pod that runs is reported so late by a busy kubelet: 13 s in the committed records. */
const reported = row(30_000, 1000);
/** The heal is observed by looks from the second node: it may have come so long before. */
export const healSeenMs = 3000;

/** By the probe's clock. */
function program(item: string, journal: TrialRecord['writerJournal'], aheadMs = 0) {
  const { startedMs, endedMs = Infinity, writes } = journal;
  const last = writes.at(-1);
  const lastMs = last === undefined ? 0 : answeredMs(last);
  return [
    from(item, 'not begun', 0, (startedMs ?? -Infinity) + aheadMs),
    from(item, 'runs', (startedMs ?? Infinity) + aheadMs, Math.min(endedMs, lastMs) + aheadMs),
    from(item, 'ended', endedMs + aheadMs),
  ];
}

const pod = (item: string, found: TrialRecord['writer'], ended: string | undefined) => [
  from(item, 'not begun', 0, found?.runningMs ?? 0),
  from(item, 'runs', found?.runningMs, found?.goneMs),
  from(item, ended, found?.goneMs),
];

/** The youngest slot that each read of the disk found, and when it was begun. */
const youngest = ({ nextJournal: { scans } }: Evidence) =>
  scans.map(({ ranges, youngestMs }) =>
    from(`write ${ranges.at(-1)?.[1]}`, youngestMs?.toString(), 0),
  );

export const facts = {
  node: {
    about: 'the node of the pod',
    witnesses: {
      plan: certain(['plan'], ({ plan: { nodes } }) => [
        ...[from(first, nodes[0], 0), from(second, nodes[1], 0)],
      ]),
      pods: certain(['writer', 'next'], ({ writer, next }) => [
        ...[from(first, writer?.node, 0), from(second, next?.node, 0)],
      ]),
    },
  },
  watched: {
    about: 'whether the probe watches',
    witnesses: {
      // A timer can end a little before its time.
      plan: row(100, 0)(['deleteAskedMs'], ({ isDetach, deleteAskedMs = 0, plan }) => [
        isDetach
          ? from(first, 'watched', deleteAskedMs, deleteAskedMs + (plan.horizonMs ?? 0))
          : undefined,
      ]),
      runner: certain(['watchEndedMs'], ({ watchEndedMs }) => [
        from(first, 'no longer watched', watchEndedMs),
      ]),
    },
  },
  runs: {
    about: 'whether the program runs',
    witnesses: {
      // It makes room for its slots before it reports its start.
      journals: reported(
        ['writerJournal', 'nextJournal', 'clockOffsetMs', 'nextClockOffsetMs'],
        ({ writerJournal, nextJournal, clockOffsetMs, nextClockOffsetMs }) => [
          ...program(first, writerJournal, clockOffsetMs),
          ...program(second, nextJournal, nextClockOffsetMs),
        ],
      ),
      // A pod that was deleted by force may run on.
      pods: reported(['writer', 'next'], ({ writer, next, isDetach }) => [
        ...pod(first, writer, isDetach ? 'ended' : undefined),
        ...pod(second, next, undefined),
      ]),
      runner: certain(
        ['deleteAskedMs', 'watchEndedMs', 'cutMs', 'healedMs'],
        ({ isDetach, deleteAskedMs, watchEndedMs, cutMs, healedMs = 0 }) => [
          isDetach
            ? from(first, 'runs', deleteAskedMs, watchEndedMs)
            : from(first, 'runs', cutMs, healedMs),
        ],
      ),
    },
  },
  numbered: {
    about: 'number of writes that it has begun',
    witnesses: {
      journals: row(1)(['writerJournal'], ({ writerJournal: { writes } }) =>
        writes.map(({ seq, begunMs }) => moment(first, seq + 1, begunMs)),
      ),
      lines: row(1)(['writerJournal'], ({ writerJournal: { writes } }) =>
        writes.map(({ begunMs }, index) => moment(first, index + 1, begunMs)),
      ),
    },
  },
  begun: {
    about: 'when it was begun',
    witnesses: {
      journals: certain(['writerJournal'], (evidence) => {
        const items = new Set(youngest(evidence).map((each) => each?.item));
        return evidence.writerJournal.writes
          .filter(({ seq }) => items.has(`write ${seq}`))
          .map(({ seq, begunMs }) => from(`write ${seq}`, String(begunMs), 0));
      }),
      next: certain(['nextJournal'], youngest),
    },
  },
  attachment: {
    about: 'the state',
    witnesses: {
      runner: exact(
        ['deleteAskedMs', 'deleteAnsweredMs'],
        ({ isDetach, deleteAskedMs: atMs, deleteAnsweredMs = atMs }) =>
          !isDetach || atMs === undefined
            ? []
            : [
                from(detach, 'not requested', 0, atMs),
                from(detach, 'requested', deleteAnsweredMs),
                moment(attachment, 'there', atMs),
              ],
      ),
      attachments: exact(['attachments'], ({ old }) => [
        from(detach, 'not requested', old?.firstSeenMs, old?.unaskedMs ?? 0),
        from(detach, 'requested', old?.deletingMs, old?.lastSeenMs),
        from(attachment, 'there', old?.firstSeenMs, old?.lastSeenMs),
      ]),
      end: exact(['thereUntilMs', 'goneMs'], ({ thereUntilMs = 0, goneMs }) => [
        ...[from(attachment, 'there', 0, thereUntilMs), from(attachment, 'gone', goneMs)],
      ]),
    },
  },
  holder: {
    about: 'the node that has it',
    isOfDriver: true,
    witnesses: {
      // Each is reported by an object of its own.
      attachments: row(500)(['attachments'], ({ old, plan }) => [
        from(volume, plan.nodes[0], old?.firstSeenMs, old?.lastSeenMs),
      ]),
      nextAttachment: row(500)(['nextAttachment'], ({ nextAttachment, plan }) => [
        from(volume, plan.nodes[1], nextAttachment?.attachedMs),
      ]),
    },
  },
  reached: {
    about: 'whether the second node reaches it',
    witnesses: {
      runner: row(healSeenMs, 0)(['cutMs', 'healedMs'], ({ cutMs, healedMs = 0 }) => [
        from(node, 'away', cutMs, healedMs),
      ]),
      // The clocks of the host, and pods that have to come: 12 s in the committed records.
      plan: row(30_000, 0)(['cutMs', 'armedMs'], ({ cutMs, armedMs = 0, plan }) => [
        from(node, 'away', cutMs, armedMs + (plan.healAfterMs ?? 0)),
      ]),
      looks: certain(['looks'], ({ looks = [] }) =>
        [{ word: 'up', atMs: 0 }, ...looks].map(({ word, atMs }, index) =>
          from(node, word === 'up' ? 'reached' : 'away', atMs, looks[index]?.atMs),
        ),
      ),
    },
  },
  boot: {
    about: 'its boot id',
    witnesses: {
      arming: certain(['armedBootId'], ({ armedBootId }) => [from(node, armedBootId, 0)]),
      healing: certain(['healedBootId'], ({ healedBootId }) => [from(node, healedBootId, 0)]),
    },
  },
} as const satisfies Readonly<Record<string, Fact>>;

const factNames = Object.keys(facts) as (keyof typeof facts)[];

/** `ofDriver`: what no known mode does. `cut`: where a node is cut off. */
export function contradictionsIn(record: TrialRecord, plan: Planned, cut?: CutRecord) {
  const isDetach = cut === undefined && record.variant !== 'force-deleted';
  const evidence = { ...record, ...cut, plan, isDetach, old: record.attachments[0] };
  const zeroMs = cut?.cutMs ?? record.deleteAskedMs;
  const found = disagreementsOf(facts, evidence, { fromMs: 0, toMs: Infinity }, factNames);
  const reasons = (ofDriver: boolean): Reason[] =>
    found
      .filter(({ fact }) => 'isOfDriver' in facts[fact] === ofDriver)
      .map((each) => disagreementReason(each, facts, witnesses, zeroMs));
  return { ofRecords: reasons(false), ofDriver: reasons(true) };
}
