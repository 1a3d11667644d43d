/** A milestone of the way out: its first record after the fault. */
import type { ObservationRecord } from '../../history/index.ts';
import { milestones, type MilestoneName } from './milestones.ts';
import { rolesIn } from './roles.ts';
import type { Story } from './story.ts';

/** The first record of it between fault and heal, whoever takes over. */
export function firstAfterFault(story: Story, name: MilestoneName): ObservationRecord | undefined {
  const { faultAtMs, healAtMs, observations } = story;
  if (faultAtMs === undefined) return undefined;
  const roles = rolesIn(story);
  return observations.find(
    (seen) => seen.t >= faultAtMs && seen.t < healAtMs && milestones[name].is(seen, roles),
  );
}
