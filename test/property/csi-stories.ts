/** What may happen to a volume, at random: calls, deaths, crashes, and calls struck half-way. */
import fc from 'fast-check';
import type { Strike } from '../support/steps.ts';
import { type CallName, type NodeName, nodes } from './csi-calls.ts';

export type Event =
  | (CallEvent & { readonly do: 'call' })
  | { readonly do: 'run'; readonly steps: number }
  | { readonly do: 'kill'; readonly who: string }
  | Errand
  | { readonly do: 'taint'; readonly node: NodeName }
  | { readonly do: 'wait'; readonly ms: number }
  | Race;

/** A call is struck between two of its steps, and whole other calls come and go. */
export interface Race {
  readonly do: 'race';
  /** What was done before, in order. */
  readonly before: readonly CallName[];
  readonly name: CallName;
  readonly strike: Strike;
  readonly meanwhile: readonly Errand[];
}
export interface Errand {
  readonly do: 'attach' | 'detach' | 'crash' | 'boot' | CallName;
  readonly node: NodeName;
}

interface CallEvent {
  readonly name: CallName;
  readonly node: NodeName;
  /** Which of the contexts it was told: the latest, or an older one that arrives late. */
  readonly old: number;
  /** Nothing else is begun before it ends. */
  readonly alone: boolean;
  readonly strike: Strike | undefined;
}

/** Mostly the same: calls that meet on one node are the ones that can hurt. */
const node = fc.constantFrom<NodeName[]>('a', 'a', 'a', 'b', 'b', 'c');
const strike = fc.record({
  after: fc.nat(40),
  kind: fc.constantFrom('kill' as const, 'fail' as const, 'pause' as const),
  steps: fc.option(fc.nat(300), { nil: undefined }),
});
const name = fc.oneof<fc.WeightedArbitrary<CallName>[]>(
  { weight: 12, arbitrary: fc.constantFrom('publish', 'unpublish', 'stage') },
  { weight: 6, arbitrary: fc.constantFrom('unstage', 'nodePublish', 'nodeUnpublish') },
  { weight: 1, arbitrary: fc.constantFrom('create', 'delete') },
);
const call = fc.record({
  do: fc.constant('call' as const),
  ...{ name, node, old: fc.nat(1), alone: fc.boolean() },
  strike: fc.option(strike, { nil: undefined }),
});
const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.WeightedArbitrary<T> => ({
  weight,
  arbitrary,
});
const race: fc.Arbitrary<Race> = fc.record({
  do: fc.constant('race' as const),
  before: fc.constantFrom<CallName[][]>([], ['publish'], ['publish', 'stage']),
  name,
  strike,
  meanwhile: fc.array(
    fc.record({
      do: fc.oneof(
        weighted(4, fc.constantFrom('attach' as const, 'detach' as const)),
        weighted(2, name),
        weighted(1, fc.constantFrom('crash' as const, 'boot' as const)),
      ),
      node,
    }),
    { minLength: 1, maxLength: 5 },
  ),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  weighted<Event>(4, race),
  weighted<Event>(12, call),
  weighted<Event>(
    4,
    fc.record({ do: fc.constantFrom('attach' as const, 'detach' as const), node }),
  ),
  weighted<Event>(
    3,
    fc.record({ do: fc.constant('run' as const), steps: fc.integer({ min: 1, max: 80 }) }),
  ),
  fc.record({
    do: fc.constant('kill' as const),
    who: fc.constantFrom('controller' as const, ...nodes),
  }),
  fc.record({ do: fc.constantFrom('crash' as const, 'boot' as const), node }),
  fc.record({ do: fc.constant('taint' as const), node }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1000, 6000, 40_000) }),
);
export const story = fc.record({
  events: fc.array(event, { maxLength: 25 }),
  choices: fc.array(fc.nat(5), { maxLength: 300 }),
});
export type Story = typeof story extends fc.Arbitrary<infer S> ? S : never;
