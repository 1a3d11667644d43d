/**
 * When the milestones of a run came that a real cluster and the model both show. Each is the first
 * of its kind after the fault; those of the way back, the first after the heal.
 */
import { type ActionRecord, type ObservationRecord, observed } from '../../lib/history/index.ts';
import {
  milestones,
  type Milestone,
  type MilestoneName,
  type MilestoneWitness,
  roleOf,
  rolesIn,
  type Roles,
  type Story,
} from '../../lib/judge/index.ts';

const byRunner = { witness: 'runner', after: 'fault' } as const;

/** Those of the runner, when it says so. */
const told = {
  struck: { ...byRunner, says: 'the fault is in place' },
  removal: { ...byRunner, says: 'the remedy begins' },
  removed: { ...byRunner, says: 'the remedy is done' },
  heal: { ...byRunner, says: 'the heal begins', after: 'heal' },
} as const;

export type TimedName = MilestoneName | keyof typeof told;

/** Milliseconds on the run's clock; a milestone that was not seen is not in it. */
export type MilestoneTimes = ReadonlyMap<TimedName, number>;

const known: Readonly<Record<TimedName, Pick<Milestone, 'says' | 'witness' | 'after'>>> = {
  ...told,
  ...milestones,
};

export const sayMilestone = (name: TimedName): string => known[name].says;
export const witnessOf = (name: TimedName): MilestoneWitness => known[name].witness;
export const isAfterHeal = (name: TimedName): boolean => known[name].after === 'heal';

/** Empty where the run ended before its fault. */
export function milestoneTimes(story: Story): MilestoneTimes {
  const found = new Map<TimedName, number>();
  const roles = settledRoles(story);
  const { faultAtMs, faultDoneAtMs, healAtMs, observations, records, scenario } = story;
  if (roles === undefined || faultAtMs === undefined) return found;
  const set = (name: TimedName, atMs: number | undefined): void => {
    if (atMs !== undefined) found.set(name, atMs);
  };
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
  set('struck', faultDoneAtMs);
  set('removal', action('remedy', 'begin'));
  set('removed', action('remedy', 'done'));
  // Not of a second fault, which may end before.
  set('heal', action('fault', 'heal', scenario.fault.kind));
  for (const [name, { after, is, ...more }] of Object.entries<Milestone>(milestones)) {
    if (after === 'never') continue;
    const [from, to] = after === 'fault' ? [faultAtMs, healAtMs] : [healAtMs, endOf(story)];
    const seen = observations.find((seen) => seen.t >= from && seen.t < to && is(seen, roles));
    if (seen === undefined) continue;
    const durationMs = more.atEnd === true ? (seen.data.durationMs ?? 0) : 0;
    found.set(name as TimedName, seen.t + durationMs);
  }
  return found;
}

/** To copy the second image the runner pauses the nodes: what comes then is its own doing. */
const endOf = ({ secondImageAtMs }: Story): number => secondImageAtMs ?? Infinity;

/**
 * The successor is the first other node that mounted the volume, else the first that a new pod was
 * bound to; its pod is the first new one. Undefined where the run ended before its fault.
 */
function settledRoles(story: Story): Roles | undefined {
  const { observations, victimNode, faultAtMs } = story;
  if (victimNode === undefined || faultAtMs === undefined) return undefined;
  const anybody = rolesIn(story);
  const first = (name: MilestoneName): ObservationRecord | undefined =>
    observations.find((seen) => seen.t >= faultAtMs && milestones[name].is(seen, anybody));
  const bound = first('bound');
  const pod = bound ?? first('created');
  const node = first('mounted')?.node ?? bound?.node;
  const uid = pod === undefined ? undefined : String(pod.data.uid);
  const call = observations.find(({ name }) => name === observed.csiCall);
  return {
    ...anybody,
    successor: roleOf({ node, uid }),
    volume: call === undefined ? undefined : String(call.data.volume),
  };
}
