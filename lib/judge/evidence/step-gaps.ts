/** Did the runner tell its whole plot, and do what the scenario asks: its fault, on the database’s node, for so long, and its remedy? */
import { toldInSeconds, isSeen, whenInWords } from '../../core/index.ts';
import { isOverAtOnce, type FaultKind } from '../../scenario/index.ts';
import { phaseNames, type ActionRecord, observed } from '../../history/index.ts';
import type { Story } from '../timeline/story.ts';
import { Sightings } from '../timeline/sightings.ts';

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
  const {
    fault: { kind: fault },
    also: { kind: also },
  } = story.scenario;
  const second = also === 'none' ? [] : [{ kind: also, name: also }];
  return [{ kind: fault, name: story.faultName }, ...second].flatMap(({ kind, name }) => {
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
  const {
    fault: { kind: fault, rebootAt },
    also: { for: alsoForMs },
  } = scenario;
  if (kind !== fault) return Math.min(healAtMs, fromMs + alsoForMs);
  if (fault !== 'node-reboot') return healAtMs;
  const phase = records.find((record) => record.type === 'phase' && record.phase === 'fault');
  return typeof rebootAt === 'number' ? (phase?.t ?? 0) + rebootAt : fromMs;
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
  const {
    remedy: { at: remedyAt },
  } = scenario;
  const phase = story.records.find((record) => record.type === 'phase' && record.phase === 'fault');
  if (typeof remedyAt === 'number') return atMs >= (phase?.t ?? faultAtMs) + remedyAt;
  const sightings = new Sightings(database);
  let isBegun = false;
  return observations.some((seen) => {
    if (seen.t > atMs) return false;
    if (!isBegun && seen.t >= faultAtMs) {
      sightings.begin({ name: '', uid: story.victimUid ?? '', node: story.victimNode ?? '' });
      isBegun = true;
    }
    sightings.see(seen);
    return isSeen(remedyAt, sightings);
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
