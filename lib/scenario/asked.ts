/**
 * What is refused of a scenario that somebody asks for, beyond what contradicts itself: what he says and
 * what would do nothing. A record says every field, so that this can't be asked of one; and what
 * earlier versions ran stays readable.
 */
import { formatDuration } from '../core/index.ts';
import { contradictions, type Contradiction } from './contradictions.ts';
import { fields } from './fields.ts';
import { doesNothing, goesWith, misplacedIn } from './written-paths.ts';
import type { Scenario } from './scenario-record.ts';
import type { Settings } from './settings.ts';

/** `asked`: what of the scenario was said. Empty where all fits. */
export function refusals(scenario: Scenario, asked: Settings): Contradiction[] {
  const misplaced = misplacedIn(asked);
  return [
    ...misplaced.map((field) => ({ field, message: doesNothing(field) })),
    ...contradictions(scenario).filter(({ field }) => !misplaced.some((each) => each === field)),
    ...lateMoments(scenario),
    ...idleWaits(scenario, asked),
  ];
}

/** Waits for a successor, where pods are deleted one by one instead. */
const idleWaits = ({ recreations }: Scenario, asked: Settings): Contradiction[] =>
  (['overlapMs', 'patienceMs'] as const)
    .filter((field) => recreations > 0 && asked[field] !== undefined)
    .map((field) => ({
      field,
      message: `not with ${fields.recreations.at} ${recreations}: no successor is waited for`,
    }));

/** Times that the watch does not reach; `untaintAt` counts from the remedy. */
function lateMoments(scenario: Scenario): Contradiction[] {
  const { horizonMs, remedyAt, untaintAt } = scenario;
  const remedyMs = typeof remedyAt === 'number' ? remedyAt : 0;
  const moments = [
    ...(['rebootAt', 'alsoAt', 'remedyAt'] as const).map(
      (field) => [field, scenario[field]] as const,
    ),
    ['untaintAt', typeof untaintAt === 'number' ? remedyMs + untaintAt : untaintAt] as const,
  ];
  return moments
    .filter(([field, at]) => typeof at === 'number' && at >= horizonMs && goesWith(field, scenario))
    .map(([field]) => ({
      field,
      message:
        `${fields[field].show(scenario[field])} is too late: the watch is over ` +
        `${formatDuration(horizonMs)} after the fault at the latest (${fields.horizonMs.at})`,
    }));
}
