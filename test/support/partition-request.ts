/** What a partition's experiment asks for with flags. */
import {
  requestOf,
  type ExperimentDefinition,
  type RunRequest,
} from '../../lib/cli/flags/request.ts';

export const now = new Date('2026-11-21T09:30:12.345Z');

export const definition: ExperimentDefinition = {
  name: 'network-partition',
  question: 'Does it?',
  fault: 'network-partition',
  remedy: 'force-delete',
};

export function request(...args: string[]): RunRequest {
  const made = requestOf(definition, args, now);
  if (made === undefined) throw new Error('help was not asked for');
  return made;
}
