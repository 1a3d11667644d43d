/** What is stated of the run's own acts: its fault and its remedy, where and when, and its phases. */
import { isSeen } from '../../core/index.ts';
import { type ActionRecord, observed, phaseNames } from '../../history/index.ts';
import {
  type FaultKind,
  alsoNameOf,
  claims,
  faultNamed,
  isAskedAgain,
  isOverAtOnce,
  endsMachine,
  losesPower,
  strikesOther,
} from '../../scenario/index.ts';
import { isGroupRun } from '../group/story.ts';
import { Sightings, type Story } from '../timeline/story.ts';
import { moment, throughout, wholeRun } from './changes.ts';
import { type Span, type Statement, unknown } from './engine.ts';
import type { Read } from './evidence.ts';

type Actor = ActionRecord['actor'];

export const stepsOf = (
  { records }: Pick<Story, 'records'>,
  ...actors: readonly Actor[]
): ActionRecord[] =>
  records
    .filter((record) => record.type === 'action')
    .filter(({ actor }) => actors.length === 0 || actors.includes(actor));

/** The runner's step that fetches the disk's log of writes, as an error names it. */
export const exportStep = 'export writes';

// The faults that a run claims, and when they held.

/** A fault that a run claims. */
export interface ClaimedFault {
  readonly name: string;
  readonly kind: FaultKind;
  /** It lasts until the heal, and is asked for meanwhile. */
  readonly askedAgain: boolean;
  /** Its victim is not healed. */
  readonly staysDown: boolean;
}

export function claimedFaults({ run, scenario, faultName }: Story): ClaimedFault[] {
  const { fault, also } = scenario;
  const own = run.custom?.fault;
  const first = {
    ...{ name: faultName, kind: fault.kind },
    askedAgain: own === undefined ? isAskedAgain(fault.kind) : own.askedAgain,
    staysDown: losesPower(fault.kind) && !fault.reboot,
  };
  const second = {
    ...{ name: alsoNameOf(scenario), kind: also.kind, askedAgain: isAskedAgain(also.kind) },
    staysDown: losesPower(also.kind) && !fault.reboot,
  };
  return also.kind === 'none' ? [first] : [first, second];
}

/** When a fault held its victim, by the run's own records: what it claims is claimed of that span. */
export interface FaultSpan extends Span {
  /** It began to break something; it was in place from `fromMs` on. */
  readonly beginMs: number;
  /** Its victim may be whole from here on; what is over at once is so as soon as it is in place. */
  readonly overMs: number;
}

/** Whether it is the second fault, and strikes another node than the victim. */
const isOnOther = ({ scenario }: Pick<Story, 'scenario'>, name: string): boolean =>
  strikesOther(scenario) && name === alsoNameOf(scenario);

/** The node that a second fault struck, and when; undefined where it came to none. */
export function otherVictimOf(
  story: Story,
): { readonly node: string; readonly span: FaultSpan } | undefined {
  const { scenario, records } = story;
  if (!strikesOther(scenario)) return undefined;
  const name = alsoNameOf(scenario);
  const span = spanOf(story, name, scenario.also.kind);
  const { node } = stepsOf({ records }, 'fault').findLast((each) => each.name === name) ?? {};
  return span === undefined || node === undefined ? undefined : { node, span };
}

/** Span of the scenario's fault. Undefined where it never was in place. */
export const faultSpanOf = (story: Story): FaultSpan | undefined =>
  spanOf(story, story.faultName, story.scenario.fault.kind);

/** One that is not given back by itself ends with the heal; a flapping partition, for the first time, by itself. */
export function spanOf(story: Story, name: string, kind: FaultKind): FaultSpan | undefined {
  const {
    records,
    healAtMs,
    scenario: { fault },
  } = story;
  const steps = stepsOf({ records }, 'fault').filter((each) => each.name === name);
  const at = (step: ActionRecord['step']): number | undefined =>
    steps.find((each) => each.step === step)?.t;
  const [beginMs, fromMs] = [at('begin'), at('done')];
  if (beginMs === undefined || fromMs === undefined) return undefined;
  const givenBackMs = at('heal') ?? at('healed');
  const toMs = givenBackMs ?? healAtMs;
  const flapsMs = kind === 'flapping-partition' ? fromMs + fault.down : toMs;
  const ends = [toMs, flapsMs, offFromMs(story, name)];
  return { beginMs, fromMs, toMs: Math.min(...ends), overMs: givenBackMs ?? fromMs };
}

/** From then on a remedy has switched the node of that fault off, or may have. */
const offFromMs = (story: Story, name: string): number =>
  story.switchedOffMs === undefined || isOnOther(story, name)
    ? Infinity
    : (story.remedy?.t ?? Infinity);

/** When the victim's machine was off, by the runner's own steps. */
export function offSpanOf(story: Story): Span | undefined {
  const { scenario, switchedOffMs: fromMs, healAtMs: toMs } = story;
  if (endsMachine(scenario.fault.kind)) return faultSpanOf(story);
  return fromMs === undefined ? undefined : { fromMs, toMs };
}

/** Histories before version 2 have no ends, and nothing is asked of them. */
const ofActs =
  (state: (story: Story, faultAtMs: number) => readonly Statement[], otherwise?: string): Read =>
  ({ story }) =>
    !story.tells.ends || story.faultAtMs === undefined
      ? undefined
      : {
          statements: state(story, story.faultAtMs),
          sees: wholeRun,
          ...(otherwise !== undefined && { otherwise }),
        };

const within = (
  item: string,
  value: Statement['value'],
  fromMs: number,
  toMs: number,
): Statement[] => (fromMs < toMs ? [{ item, value, fromMs, toMs }] : []);

export const faultsHeld = ofActs(
  (story) =>
    claimedFaults(story).flatMap(({ name, kind }) => {
      const span = spanOf(story, name, kind);
      if (span === undefined) return [];
      const { beginMs, fromMs, toMs, overMs } = span;
      const holds = isOverAtOnce(kind) ? unknown : 'in place';
      const flaps = kind === 'flapping-partition' ? story.healAtMs : overMs;
      return [
        ...within(name, unknown, beginMs, fromMs),
        ...within(name, holds, fromMs, toMs),
        ...within(name, unknown, toMs, Math.max(overMs, flaps, toMs + 1)),
      ];
    }),
  'not in place',
);

/** Remedies and killed servers have certificates as well, and no span. */
export const faultsCertified = ofActs((story) => {
  const claimed = new Set(claimedFaults(story).map(({ name }) => name));
  return story.records
    .filter((record) => record.type === 'certificate')
    .filter(({ fault }) => claimed.has(fault))
    .map(({ fault, moment: when, t }) =>
      moment(fault, when === 'during' ? 'in place' : 'not in place', t),
    );
});

const certifiedWhen = ['before', 'during', 'after'] as const;

/** What each fault that was in place has to be certified of. Its author's own one has other claims. */
export const certificatesAsked: Read = ({ story }) => ({
  statements: claimedFaults(story).flatMap(({ name, kind, staysDown }) => {
    // Of one that never was in place that is recorded.
    if (spanOf(story, name, kind) === undefined) return [];
    const { whole, broken, mended = whole } = faultNamed(kind);
    const due = { before: whole, during: broken, after: mended };
    const isOwn = story.run.custom?.fault?.name === name;
    return certifiedWhen
      .filter((when) => when !== 'after' || !staysDown)
      .flatMap((when) => [
        certified(name, when),
        ...(isOwn || !story.tells.ends
          ? []
          : due[when].map((probe) => certified(name, when, claims[probe]))),
      ]);
  }),
});

export const certificatesMade: Read = ({ story: { records } }) => ({
  statements: records
    .filter((record) => record.type === 'certificate')
    .flatMap(({ fault, moment: when, claim }) => [
      certified(fault, when),
      certified(fault, when, claim),
    ]),
  ...{ otherwise: 'not certified', sees: wholeRun },
});

const certified = (fault: string, when: string, claim = 'at all'): Statement => ({
  ...{ item: `${fault}, ${when}: ${claim}`, value: 'certified' },
  ...wholeRun,
});

/** So long at least each has to hold. */
export const faultsAsked = ofActs((story) =>
  claimedFaults(story).flatMap((claimed) => {
    const { name, kind } = claimed;
    const span = spanOf(story, name, kind);
    if (span === undefined || isOverAtOnce(kind)) return [];
    const dueMs = Math.min(dueMsOf(story, claimed, span.fromMs), offFromMs(story, name));
    return within(name, 'in place', span.fromMs, dueMs);
  }),
);

function dueMsOf(
  { scenario, records, healAtMs }: Story,
  { name, kind }: ClaimedFault,
  fromMs: number,
): number {
  const { fault, also } = scenario;
  if (name === alsoNameOf(scenario)) return Math.min(healAtMs, fromMs + also.for);
  if (kind === 'flapping-partition') return Math.min(healAtMs, fromMs + fault.down);
  if (kind !== 'node-reboot') return healAtMs;
  return typeof fault.rebootAt === 'number' ? faultPhaseMs({ records }) + fault.rebootAt : fromMs;
}

const faultPhaseMs = ({ records }: Pick<Story, 'records'>): number =>
  records.find((record) => record.type === 'phase' && record.phase === 'fault')?.t ?? 0;

// What is asked for, on which node, from when on, and that each step begun is ended.

const named = (actor: Actor, name: string): string => `${actor} ${name}`;

export const actsAsked: Read = ofActs((story) => {
  const { remedyName } = story;
  const remedies = remedyName === 'none' ? [] : [named('remedy', remedyName)];
  const all = [...claimedFaults(story).map(({ name }) => named('fault', name)), ...remedies];
  return all.map((item) => ({ item, value: 'asked for', ...wholeRun }));
}, 'not asked for');

/** A moment that never came is recorded as a failure. */
export const actsBegun: Read = ofActs((story) => {
  const begun = stepsOf(story, 'fault', 'remedy').map(({ actor, name }) => named(actor, name));
  return [...new Set(begun)].map((item) => ({ item, value: 'asked for', ...wholeRun }));
}, 'not asked for');

const ends: Partial<Record<ActionRecord['step'], ActionRecord['step']>> = {
  begin: 'done',
  heal: 'healed',
};

/** Each step that was begun, and each fault that was in place. One that failed says so itself. */
export const stepsEnded = ofActs((story) => {
  const steps = stepsOf(story);
  const stated = (item: string, isEnded: boolean): Statement => ({
    ...{ item, value: isEnded ? 'recorded' : 'not recorded' },
    ...wholeRun,
  });
  const begun = steps.filter(({ step }) => ends[step] !== undefined);
  const held = claimedFaults(story).filter(
    ({ name, kind }) => !isOverAtOnce(kind) && spanOf(story, name, kind) !== undefined,
  );
  return [
    ...begun.map(({ actor, name, step, t }) => {
      const own = steps.filter((each) => each.actor === actor && each.name === name && each.t >= t);
      const isEnded = own.some((each) => [ends[step], 'failed', 'refused'].includes(each.step));
      return stated(`${named(actor, name)} (${step})`, isEnded);
    }),
    ...held.map(({ name }) => {
      const own = steps.filter((each) => each.actor === 'fault' && each.name === name);
      const isHealed = own.some(({ step }) => step === 'heal' || step === 'healed');
      return stated(`${named('fault', name)} (given back)`, isHealed);
    }),
  ];
});

export const stepsMustEnd = ofActs(() => [], 'recorded');

const place = (node = 'no node'): Statement[] => throughout([['victim', node]]);

/** Where the database ran right before the fault. A group runs on several nodes. */
export const victimRan = ofActs(({ observations, records }, faultAtMs) =>
  isGroupRun(records)
    ? []
    : place(
        observations.findLast(({ name, t }) => name === observed.podRunning && t <= faultAtMs)
          ?.node,
      ),
);

export const victimOfActs = ofActs((story) =>
  [...new Set(onVictim(story).map(({ node }) => node))].flatMap((node) => place(node)),
);

const onVictim = (story: Story): ActionRecord[] =>
  stepsOf(story, 'fault', 'remedy').filter(({ name }) => !isOnOther(story, name));

/** The runner acts at once; a remedy that volumes share waits for the last of them, 10 s at most. */
const remedyWithinMs = 60_000;

export const remedyDue = ofActs((story) => {
  const dueMs = remedyDueMs(story);
  const item = named('remedy', story.remedyName);
  const lateMs = Math.min(dueMs + remedyWithinMs, story.endAtMs + 1);
  return [
    ...within(item, 'too early', 0, dueMs),
    ...within(item, 'due', dueMs, lateMs),
    ...within(item, 'too late', lateMs, story.endAtMs + 1),
  ];
});

export const remedyBegun = ofActs(({ remedy, remedyName }) =>
  remedy === undefined ? [] : [moment(named('remedy', remedyName), 'due', remedy.t)],
);

function remedyDueMs({ scenario, database, observations, ...story }: Story): number {
  const { faultAtMs = 0, victimUid = '', victimNode = '' } = story;
  const { at } = scenario.remedy;
  if (typeof at === 'number') return faultPhaseMs(story) + at;
  const sightings = new Sightings(database);
  let isBegun = false;
  for (const seen of observations) {
    if (!isBegun && seen.t >= faultAtMs) {
      sightings.begin({ name: '', uid: victimUid, node: victimNode });
      isBegun = true;
    }
    sightings.see(seen);
    if (isSeen(at, sightings)) return seen.t;
  }
  return story.endAtMs + 1;
}

const phasesStated = (runs: number, phases: readonly string[]): Statement[] =>
  throughout([
    ['phases', phases.join(', ')],
    ['runs', runs],
  ]);

export const phasesAsked = ofActs(() => phasesStated(1, phaseNames));

export const phasesRecorded = ofActs(({ records }) => {
  const phases = records.filter((record) => record.type === 'phase').map(({ phase }) => phase);
  return phasesStated(records.filter(({ type }) => type === 'run').length, phases);
});
