/** What a partition's experiment asks for with flags. */
import {
  requestOf,
  type ExperimentDefinition,
  type RunRequest,
} from '../../lib/cli/flags/request.ts';
import { readFlags } from './read-flags.ts';

export const now = new Date('2026-11-21T09:30:12.345Z');

export const definition: ExperimentDefinition = {
  name: 'network-partition',
  question: 'Does it?',
  fault: 'network-partition',
  remedy: 'force-delete',
};

export function request(...args: string[]): RunRequest {
  return requestOf(definition, readFlags(args), now);
}
