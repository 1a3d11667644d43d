/**
 * The rule of thumb that the model has to beat: live victim, unfenced disk, second mount: damage.
 * It reads the scenario, and knows neither rates nor links nor what a server has in its caches.
 */
import type { DiskMode } from '../disk-kinds.ts';
import { losesPower } from '../fault-kinds.ts';
import { taints } from '../remedy-kinds.ts';
import { releaseOf } from '../experiment/expectation/release.ts';
import type { Scenario } from '../experiment/scenario.ts';

export interface RulePrediction {
  readonly damage: boolean;
  readonly because: string;
}

/**
 * Of 84 conclusive runs up to 2026-11-23 the rule was right about damage in 75, told whether a second
 * mount came. 21 of these runs set the model's own constants.
 */
export const ruleRecord = { right: 75, of: 84 } as const;

export function ruleOf(scenario: Scenario): RulePrediction {
  if (losesPower(scenario.fault)) return none('the victim is dead');
  if (!isUnfenced(scenario)) return none('the disk does not let two nodes in');
  if (!hasSecondMount(scenario)) return none('no second mount');
  return { damage: true, because: 'a living victim, a disk that does not fence, a second mount' };
}

const none = (because: string): RulePrediction => ({ damage: false, because });

function isUnfenced({ disk, remedy, attachWhileBusy, fileLocks }: Scenario): boolean {
  const unfenced: Readonly<Record<DiskMode, boolean>> = {
    unfenced: true,
    // It fences too late, as its name says.
    'ack-early': true,
    'fence-if-out-of-service': !taints(remedy),
    fenced: false,
    'pending-while-busy': attachWhileBusy === 'granted',
    exclusive: false,
    reservation: false,
    'shared-file': fileLocks === 'local',
  };
  return unfenced[disk] && remedy !== 'fence-first';
}

const hasSecondMount = (scenario: Scenario): boolean =>
  !releaseOf(scenario).startsWith('kept by') && releaseOf(scenario) !== 'unasked';
