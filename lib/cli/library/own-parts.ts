/** Helpers for a fault of one's own; remedies and checkers are plain objects. */
import { able, type Capability } from '../../core/index.ts';
import {
  type OutOfBandShell,
  type CustomFault,
  type FaultContext,
  lastingFault,
  type LastingFault,
} from '../../run/index.ts';
import { heartbeatMs } from '../../scenario/index.ts';

export interface CustomLastingFault<C extends Capability = never>
  extends Pick<CustomFault<C>, 'name' | 'like' | 'needs'>,
    LastingFault<NoInfer<C>> {}

/** A fault that breaks something at once, lasts, and gives it back at the heal. */
export const customFault = <const C extends Capability = never>({
  name,
  like,
  needs = [],
  ...lasting
}: CustomLastingFault<C>): CustomFault<C> => ({
  ...lastingFault({ name, needs, leastMs: heartbeatMs }, lasting),
  ...{ like, needs },
});

/** The victim's, for a fault that `needs` the node shell. Throws as `able`. */
export const victimShell = ({
  testbed,
  victim,
}: Pick<FaultContext, 'testbed' | 'victim'>): OutOfBandShell =>
  able(testbed, 'testbed', ['node-shell']).shell(victim.node);
