/**
 * The steps of a run that a real cluster and the model both show, each with its time. A step is the
 * first thing of its kind after the fault; those of the way back, the first after the heal.
 */
import type { ActionRecord } from '../history/events.ts';
import type { Story } from '../timeline/story.ts';
import { castOf, stepDefinitions, type StepDefinition, type Witness } from './step-definitions.ts';

export type StepName = keyof typeof stepDefinitions | 'struck' | 'removal' | 'removed' | 'heal';

/** Milliseconds on the run's clock; a step that was not seen is not in it. */
export type Steps = ReadonlyMap<StepName, number>;

const byRunner = { witness: 'runner', after: 'fault' } as const;

/** Those of the runner, when it says so, and those that others see. */
const known: Readonly<Record<StepName, Pick<StepDefinition, 'says' | 'witness' | 'after'>>> = {
  struck: { ...byRunner, says: 'the fault is in place' },
  removal: { ...byRunner, says: 'the remedy begins' },
  removed: { ...byRunner, says: 'the remedy is done' },
  heal: { ...byRunner, says: 'the heal begins', after: 'heal' },
  ...stepDefinitions,
};

export const sayStep = (name: StepName): string => known[name].says;
export const witnessOf = (name: StepName): Witness => known[name].witness;
export const isAfterHeal = (name: StepName): boolean => known[name].after === 'heal';

/** Empty where the run ended before its fault. */
export function stepsOf(story: Story): Steps {
  const found = new Map<StepName, number>();
  const cast = castOf(story);
  const { faultAtMs, faultDoneAtMs, healAtMs, observations, records, scenario } = story;
  if (cast === undefined || faultAtMs === undefined) return found;
  set(found, 'struck', faultDoneAtMs);
  const action = (
    actor: ActionRecord['actor'],
    step: ActionRecord['step'],
    name?: string,
  ): number | undefined =>
    records.find(
      (record) =>
        record.type === 'action' &&
        record.actor === actor &&
        record.step === step &&
        (name ?? record.name) === record.name,
    )?.t;
  set(found, 'removal', action('remedy', 'begin'));
  set(found, 'removed', action('remedy', 'done'));
  // Not of a second fault, which may end before.
  set(found, 'heal', action('fault', 'heal', scenario.fault));
  for (const [name, { after, is, ...more }] of Object.entries<StepDefinition>(stepDefinitions)) {
    const [from, to] = after === 'fault' ? [faultAtMs, healAtMs] : [healAtMs, endOf(story)];
    const seen = observations.find((seen) => seen.t >= from && seen.t < to && is({ seen, cast }));
    if (seen === undefined) continue;
    const durationMs = more.atEnd === true ? Number(seen.data['durationMs'] ?? 0) : 0;
    found.set(name as StepName, seen.t + durationMs);
  }
  return found;
}

/** To copy the second image the runner pauses the nodes: what comes then is its own doing. */
const endOf = ({ secondImageAtMs }: Story): number => secondImageAtMs ?? Infinity;

function set(steps: Map<StepName, number>, name: StepName, atMs: number | undefined): void {
  if (atMs !== undefined) steps.set(name, atMs);
}
