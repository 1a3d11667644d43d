/**
 * The rule of thumb that the model has to beat: live victim, unfenced disk, second mount: damage.
 * It reads the scenario, and knows neither rates nor links nor what a server has in its caches.
 */
import { diskModeOf } from '../disk-modes/index.ts';
import { losesPower } from '../faults/kinds/index.ts';
import { taints } from '../remedies/kinds/index.ts';
import { volumeReleaseOf } from '../experiment/expectation/release.ts';
import type { Scenario } from '../experiment/scenario.ts';

export interface RulePrediction {
  readonly damage: boolean;
  readonly because: string;
}

/**
 * Record of the rule: of 84 conclusive runs up to 2026-11-23 it was right about damage in 75, told
 * whether a second mount came. 21 of these runs set the model's own constants.
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
  if (remedy === 'fence-first') return false;
  const { isDirectory, attach, stage, detach } = diskModeOf[disk];
  if (isDirectory) return fileLocks === 'local';
  if (attach !== undefined) return attachWhileBusy === 'granted';
  if (stage !== undefined) return false;
  // A cut that follows the answer comes too late.
  if (detach?.cuts === 'where-out-of-service') return !taints(remedy);
  return detach?.cuts !== 'before-answer';
}

const hasSecondMount = (scenario: Scenario): boolean =>
  !volumeReleaseOf(scenario).startsWith('kept by') && volumeReleaseOf(scenario) !== 'unasked';
