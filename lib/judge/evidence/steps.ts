/** Did the run do what its scenario asks: its phases, its fault with certificates and effect, its remedy? */
import { isSeen, silencesIn, toldInSeconds, whenInWords } from '../../core/index.ts';
import {
  type ActionRecord,
  type CertificateRecord,
  type SmallRecord,
  askedWithinMs,
  canaryContent,
  csiCalls,
  isGranted,
  observed,
  phaseNames,
} from '../../history/index.ts';
import { Sightings, type Story } from '../timeline/story.ts';
import type { WriteMarks } from '../timeline/writes.ts';
import { type FaultKind, isAskedAgain, isOverAtOnce, losesPower } from '../../scenario/index.ts';

/** When the run's fault held its victim, by its own records: what it claims is claimed of that span. */
export interface FaultSpan {
  /** It began to break something. */
  readonly beginMs: number;
  /** It was in place. */
  readonly fromMs: number;
  /** It began to be given back; of a flapping partition, for the first time. */
  readonly toMs: number;
  /** Its victim may be whole from here on; what is over at once is so as soon as it is in place. */
  readonly overMs: number;
}

/** Span of the scenario's fault. Undefined where it never was in place. */
export function faultSpanOf(story: Story): FaultSpan | undefined {
  const { records, scenario, faultName, healAtMs } = story;
  const span = spanOf(records, faultName, healAtMs);
  if (span === undefined || scenario.fault.kind !== 'flapping-partition') return span;
  return { ...span, toMs: Math.min(span.toMs, span.fromMs + scenario.fault.down) };
}

/** Span of the first fault with that name. One that is not given back by itself ends with the heal. */
export function spanOf(
  records: readonly SmallRecord[],
  name: string,
  healAtMs: number,
): FaultSpan | undefined {
  const steps = records
    .filter((record) => record.type === 'action')
    .filter((record) => record.actor === 'fault' && record.name === name);
  const beginMs = stepAt(steps, 'begin');
  const fromMs = stepAt(steps, 'done');
  if (beginMs === undefined || fromMs === undefined) return undefined;
  const givenBackMs = stepAt(steps, 'heal') ?? stepAt(steps, 'healed');
  return {
    ...{ beginMs, fromMs },
    toMs: givenBackMs ?? healAtMs,
    overMs: givenBackMs ?? fromMs,
  };
}

const stepAt = (steps: readonly ActionRecord[], step: ActionRecord['step']): number | undefined =>
  steps.find((each) => each.step === step)?.t;

// Where a fault is not proven from its beginning to its end: each needs certificates from before it, from
// while it lasted and from after it was given back, and each belongs to the action whose time it falls into.

/** A sentence for each moment of a fault that no certificate speaks of. */
export function certificateGaps(story: Story): string[] {
  const { records, healAtMs } = story;
  const certificates = records.filter((record) => record.type === 'certificate');
  return claimedIn(story).flatMap((claimed) => {
    const fault = claimed.name;
    // A fault that never was in place is told as such.
    const span = spanOf(records, fault, healAtMs);
    if (span === undefined) return [];
    const own = certificates.filter((each) => each.fault === fault);
    const during = own.filter(({ moment }) => moment === 'during').map(({ t }) => t);
    const missing = moments
      .filter(({ moment }) => !(moment === 'after' && claimed.staysDown))
      .filter(
        ({ moment, fits }) => !own.some((each) => each.moment === moment && fits(each.t, span)),
      )
      .map(({ says }) => `no certificate says that ${fault} ${says}`);
    return [...missing, ...silences(story, claimed, during, span)];
  });
}

/** Asked again until the first image, and once more right before the heal; while it is copied, not. */
function silences(
  { tells, records, scenario }: Story,
  { name: fault, askedAgain }: Claimed,
  during: readonly number[],
  { fromMs, toMs }: FaultSpan,
): string[] {
  if (!tells.ends || !askedAgain) return [];
  const imaged = records.find((each) => each.type === 'phase' && each.phase === 'first-image');
  const imagedMs = Math.min(imaged?.t ?? toMs, toMs);
  const asked = during.filter((t) => t >= fromMs && t <= toMs);
  const watched = [fromMs, ...asked.filter((t) => t <= imagedMs), imagedMs];
  const tooLong = silencesIn(watched, askedWithinMs(scenario.timers.grace)).map(
    (span) => `no certificate shows whether ${fault} still held ${span}`,
  );
  const isAskedLast = asked.some((t) => t >= imagedMs);
  return isAskedLast || imagedMs === toMs
    ? tooLong
    : [...tooLong, `no certificate shows whether ${fault} still held when it was healed`];
}

interface Needed {
  readonly moment: CertificateRecord['moment'];
  readonly says: string;
  readonly fits: (t: number, span: FaultSpan) => boolean;
}

const moments: readonly Needed[] = [
  {
    moment: 'before',
    says: 'found its victim whole',
    fits: (t, { beginMs }) => t <= beginMs,
  },
  {
    moment: 'during',
    says: 'took effect',
    fits: (t, { beginMs, toMs }) => t >= beginMs && t <= toMs,
  },
  {
    moment: 'after',
    says: 'was healed',
    fits: (t, { overMs }) => t >= overMs,
  },
];

/** A fault that a run claims. */
interface Claimed {
  readonly name: string;
  /** It lasts until the heal, and is asked meanwhile. */
  readonly askedAgain: boolean;
  /** Its victim is not healed. */
  readonly staysDown: boolean;
}

function claimedIn({ run, scenario, faultName }: Story): Claimed[] {
  const { fault, also } = scenario;
  const own = run.custom?.fault;
  return [
    {
      name: faultName,
      askedAgain: own === undefined ? isAskedAgain(fault.kind) : own.askedAgain,
      staysDown: losesPower(fault.kind) && !fault.reboot,
    },
    { name: also.kind, askedAgain: isAskedAgain(also.kind), staysDown: false },
  ];
}

// The part of certificates that only the disk can give: what survived a crash, what a severed path let
// through.

/** Empty where the fault was not a crash, or no image of the time after it was audited. */
export function crashCertificates(story: Story): CertificateRecord[] {
  const { fault, disk } = story.scenario;
  if (!losesPower(fault.kind)) return [];
  const image = story.records.find((record) => record.type === 'image' && record.image === 'first');
  if (image?.type !== 'image') return [];
  const { synced, unsynced } = image.evidence.canaries;
  const certificate = (claim: string, holds: boolean, evidence: string): CertificateRecord => ({
    type: 'certificate',
    t: image.t,
    fault: story.faultName,
    moment: 'during',
    claim,
    holds,
    evidence,
  });
  const found = (content: string | undefined): string =>
    content === undefined ? 'not on the image' : JSON.stringify(content.slice(0, 80));
  if (disk.flushes === 'ignored' && fault.powerLoss !== 'keeps') {
    // Whatever was on such a disk may be gone: canaries, journal, file system.
    const gone = synced !== canaryContent;
    const claim = 'a synced canary is gone: the disk had ignored the flush';
    return fault.powerLoss === 'drops' ? [certificate(claim, gone, found(synced))] : [];
  }
  return [
    certificate('a synced canary survived', synced === canaryContent, found(synced)),
    certificate(
      'an unsynced canary is gone',
      unsynced !== undefined && unsynced !== canaryContent,
      found(unsynced),
    ),
    ...dirtyJournal(story, certificate),
  ];
}

/** The next fsck found a journal to replay: the file system was not unmounted cleanly. */
function dirtyJournal(
  story: Story,
  certificate: (claim: string, holds: boolean, evidence: string) => CertificateRecord,
): CertificateRecord[] {
  // XFS has no fsck that tells: its log is replayed by the mount.
  if (story.scenario.volume.filesystem === 'xfs') return [];
  const stage = story.observations.find(
    (seen) => seen.t >= (story.faultAtMs ?? 0) && isGranted(csiCalls.stage)(seen),
  );
  if (stage === undefined) return [];
  const { fsck: said } = stage.data;
  const fsck = typeof said === 'string' ? said : 'no fsck output recorded';
  const dirty = fsck.includes('recovering journal');
  return [certificate('the journal was dirty before the next mount', dirty, fsck.slice(0, 300))];
}

/** Empty where the link survived, or the disk kept no log. */
export function linkCertificates(story: Story, marks: WriteMarks | undefined): CertificateRecord[] {
  const { scenario, faultName, faultAtMs } = story;
  if (scenario.fault.link === 'survives' || marks === undefined || faultAtMs === undefined)
    return [];
  const first = marks.severed[0];
  const { whileSevered } = marks.leaked;
  const until = first?.toMs === undefined ? 'the end' : `${sinceS(first.toMs, faultAtMs)} s`;
  return [
    {
      type: 'certificate',
      t: first?.fromMs ?? faultAtMs,
      fault: faultName,
      moment: 'during',
      claim: 'the disk took no write of the victim while its path was severed',
      holds: first !== undefined && whileSevered === 0,
      evidence:
        first === undefined
          ? 'the log of writes knows of no severed path'
          : `severed from ${sinceS(first.fromMs, faultAtMs)} s to ${until} after the fault; ` +
            `${whileSevered} writes applied meanwhile`,
    },
  ];
}

const sinceS = (atMs: number, faultAtMs: number): string => ((atMs - faultAtMs) / 1000).toFixed(1);

// Did the runner tell its whole plot, and do what the scenario asks: its fault, on the database’s node, for
// so long, and its remedy?

/** Asked only of histories that have ends. */
export function stepGaps(story: Story): string[] {
  if (!story.tells.ends || story.faultAtMs === undefined) return [];
  return [
    ...strangeSteps(story),
    ...misplacedFault(story),
    ...shortFaults(story),
    ...missedRemedy(story),
  ];
}

const stepsOf = ({ records }: Story, actor: ActionRecord['actor']): ActionRecord[] =>
  records.filter((record) => record.type === 'action').filter((record) => record.actor === actor);

/** Steps of another fault or remedy than the scenario's. */
function strangeSteps(story: Story): string[] {
  const { faultName, remedyName, scenario } = story;
  const names = (actor: 'fault' | 'remedy', ...asked: readonly string[]): string[] => [
    ...new Set(
      stepsOf(story, actor)
        .filter(({ name }) => !asked.includes(name))
        .map(({ name }) => `the scenario asks for no ${actor} ${name}, and there is one`),
    ),
  ];
  return [...names('fault', faultName, scenario.also.kind), ...names('remedy', remedyName)];
}

/** Where the database ran right before, the fault has to be, and all that belongs to it. */
function misplacedFault(story: Story): string[] {
  const { observations, faultAtMs = 0 } = story;
  const seen = observations.findLast(
    ({ name, t }) => name === observed.podRunning && t <= faultAtMs,
  );
  if (seen === undefined) return ['no observer saw the database run before the fault'];
  const others = [...stepsOf(story, 'fault'), ...stepsOf(story, 'remedy')].filter(
    ({ node }) => node !== seen.node,
  );
  return others.map(
    ({ actor, name, step, node }) =>
      `${actor} ${name} (${step}) names ${node ?? 'no node'}, and the database ran on ${seen.node ?? '?'}`,
  );
}

/** What was taken is given back, and not before its time. */
function shortFaults(story: Story): string[] {
  const { fault, also } = story.scenario;
  const second = also.kind === 'none' ? [] : [{ kind: also.kind, name: also.kind }];
  return [{ kind: fault.kind, name: story.faultName }, ...second].flatMap(({ kind, name }) => {
    const steps = stepsOf(story, 'fault').filter((each) => each.name === name);
    // A moment that never came is told as a failure.
    if (steps.length === 0) return [`no record says that the fault ${name} was begun`];
    const begun = steps.find(({ step }) => step === 'done');
    if (begun === undefined || isOverAtOnce(kind)) return [];
    const givenBack = steps.find(({ step }) => step === 'heal' || step === 'healed');
    if (givenBack === undefined) return [`no record says that the fault ${name} was healed`];
    const dueMs = endOf(story, kind, begun.t);
    return givenBack.t >= dueMs
      ? []
      : [
          `the fault ${name} was to last until ${toldInSeconds(dueMs)}, and was healed at ${toldInSeconds(givenBack.t)}`,
        ];
  });
}

/** Until when at least a fault lasts that was in place at `fromMs`. */
function endOf({ scenario, records, healAtMs }: Story, kind: FaultKind, fromMs: number): number {
  const { fault, also } = scenario;
  if (kind !== fault.kind) return Math.min(healAtMs, fromMs + also.for);
  if (fault.kind !== 'node-reboot') return healAtMs;
  const phase = records.find((record) => record.type === 'phase' && record.phase === 'fault');
  return typeof fault.rebootAt === 'number' ? (phase?.t ?? 0) + fault.rebootAt : fromMs;
}

/** It is begun once its moment has come, and a moment that never came is told as a failure. */
function missedRemedy(story: Story): string[] {
  const { remedyName: remedy, scenario } = story;
  const {
    remedy: { at: remedyAt },
  } = scenario;
  if (remedy === 'none') return [];
  const steps = stepsOf(story, 'remedy');
  if (steps.length === 0) return [`no record says that the remedy ${remedy} was begun`];
  const begun = steps.find(({ step }) => step === 'begin');
  return begun === undefined || isDue(story, begun.t)
    ? []
    : [
        `the remedy ${remedy} began at ${toldInSeconds(begun.t)}, before its moment: ${whenInWords(remedyAt)}`,
      ];
}

function isDue(
  { scenario, database, observations, faultAtMs = 0, ...story }: Story,
  atMs: number,
): boolean {
  const { at } = scenario.remedy;
  const phase = story.records.find((record) => record.type === 'phase' && record.phase === 'fault');
  if (typeof at === 'number') return atMs >= (phase?.t ?? faultAtMs) + at;
  const sightings = new Sightings(database);
  let isBegun = false;
  return observations.some((seen) => {
    if (seen.t > atMs) return false;
    if (!isBegun && seen.t >= faultAtMs) {
      sightings.begin({ name: '', uid: story.victimUid ?? '', node: story.victimNode ?? '' });
      isBegun = true;
    }
    sightings.see(seen);
    return isSeen(at, sightings);
  });
}

/** Did the runner tell its whole plot? Phases each once and in order, and each step begun was ended. */
export function plotGaps(story: Story): string[] {
  if (!story.tells.ends) return [];
  const { records, setup } = story;
  const gaps: string[] = [];
  const runs = records.filter(({ type }) => type === 'run').length;
  if (runs > 1) gaps.push(`the history has ${runs} runs`);
  if (setup === undefined) gaps.push('the history does not say what the testbed was');
  const phases = records.filter((record) => record.type === 'phase').map(({ phase }) => phase);
  if (phases.join() !== phaseNames.join()) {
    gaps.push(`the run did not go through its phases in order: ${phases.join(', ')}`);
  }
  return [...gaps, ...openSteps(story), ...misplacedCopies(story)];
}

const ends: Partial<Record<ActionRecord['step'], ActionRecord['step']>> = {
  begin: 'done',
  heal: 'healed',
};

/** A step that failed says so itself. */
function openSteps({ records, faultAtMs }: Story): string[] {
  const actions = records.filter((record) => record.type === 'action');
  const open = actions.filter(
    ({ actor, name, step, t }) =>
      ends[step] !== undefined &&
      !actions.some(
        (other) =>
          other.actor === actor &&
          other.name === name &&
          other.t >= t &&
          [ends[step], 'failed'].includes(other.step),
      ),
  );
  const early = actions.filter(({ actor, t }) => actor === 'remedy' && t < (faultAtMs ?? 0));
  return [
    ...open.map(({ actor, name, step }) => `no record says how ${actor} ${name} (${step}) ended`),
    ...early.map(({ name }) => `the remedy ${name} came before the fault`),
  ];
}

/** What a server has not synced yet need not be in a copy: run.ts dates it back by so much. */
const heldBackMs = 2000;

/** The first copy is from before the heal, the second from after it. */
const misplacedCopies = ({ records, faultAtMs = 0, healAtMs }: Story): string[] =>
  (['first', 'second'] as const).flatMap((image) => {
    const done = records.find(
      (record) =>
        record.type === 'action' && record.name === `copy ${image} image` && record.step === 'done',
    );
    if (done === undefined) return [`no record says when the ${image} copy was taken`];
    const told = records.find((record) => record.type === 'image' && record.image === image);
    const takenAtMs = told?.type === 'image' ? told.takenAtMs : done.t;
    const fits = [takenAtMs, done.t].every((atMs) =>
      image === 'first'
        ? atMs >= faultAtMs - heldBackMs && atMs <= healAtMs
        : atMs >= healAtMs - heldBackMs,
    );
    return fits
      ? []
      : [
          `the ${image} copy was not taken ${image === 'first' ? 'between fault and heal' : 'after the heal'}`,
        ];
  });
