/** Did the runner tell its whole plot? Phases each once and in order, and each step begun was ended. */
import type { ActionRecord, PhaseName } from '../../history/events.ts';
import type { Story } from '../../timeline/story.ts';

const inOrder: readonly PhaseName[] = [
  ...(['prepare', 'steady', 'fault', 'watch', 'first-image', 'heal'] as const),
  ...(['converge', 'second-image', 'audit', 'report'] as const),
];

export function plotGaps(story: Story): string[] {
  if (!story.tells.ends) return [];
  const { records, setup } = story;
  const gaps: string[] = [];
  const runs = records.filter(({ type }) => type === 'run').length;
  if (runs > 1) gaps.push(`the history tells of ${runs} runs`);
  if (setup === undefined) gaps.push('the history does not say what the testbed was');
  const phases = records.filter((record) => record.type === 'phase').map(({ phase }) => phase);
  if (phases.join() !== inOrder.join()) {
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

/** What a server has not synced yet need not be in a copy: images.ts dates it back by so much. */
const heldBackMs = 2000;

/** The first copy is from before the heal, the second from after it. */
function misplacedCopies({ records, faultAtMs = 0, healAtMs }: Story): string[] {
  return (['first', 'second'] as const).flatMap((image) => {
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
}
