/** The ports of a fault, proven while it lasts and always given back, and of a remedy, which removes the old pod. */
import type { Able, Capability, When } from '../../core/index.ts';
import type { PodRef, Recorder } from '../../history/index.ts';
import type { BreakableTestbed, PodKubernetes, Disk, MachineWith } from '../ports/cluster.ts';
import type { Scenario } from '../../scenario/index.ts';

/** One volume whose database runs on the victim. `C`, here and below: what its cluster is known to have. */
export interface StruckVolume<C extends Capability = never> {
  /** The pod that held it when the fault hit. */
  readonly pod: PodRef;
  readonly pods: Able<PodKubernetes, 'pods', C>;
  readonly disk: Able<Disk, 'disk', C>;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly scenario: Scenario;
}

/** What a fault gets to break and mend: the node, once for all, and each volume there. */
export interface FaultContext<C extends Capability = never> {
  readonly testbed: BreakableTestbed<C>;
  /** Every volume's history. */
  readonly recorder: Pick<Recorder, 'record'>;
  readonly victim: Pick<PodRef, 'node'>;
  readonly volumes: readonly StruckVolume<C>[];
  /** Scenario of the first one: all agree in what is not a volume's own. */
  readonly scenario: Scenario;
  /** Whether a remedy switches the victim off: what the fault keeps broken can't be asked from then on. */
  readonly isOver?: () => boolean;
}

/** Does it side by side with each; one that fails keeps no other away. Rejects as the first of these does. */
export async function onEach<T, Volume extends StruckVolume>(
  volumes: readonly Volume[],
  work: (volume: Volume) => Promise<T>,
): Promise<T[]> {
  const done = await Promise.allSettled(volumes.map(work));
  return done.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}

/**
 * A fault that plays itself. One that breaks at once and lasts is shorter as a `LastingFault`. `C`: what it
 * needs of a cluster, which is all of it that it is given; by default, and so to whoever plays it, that may be any.
 */
export interface Fault<C extends Capability = Capability> {
  readonly name: string;
  /** The heal waits until it has lasted so long: a shorter one may pass unseen. */
  readonly leastMs: number;
  /** What comes before it and does not count as a part of it. Absent where nothing does. */
  readonly leadUp?: (context: FaultContext<C>, signal: AbortSignal) => Promise<void>;
  /** Breaks the victim; certificates `before` and `during` are recorded on the way. */
  readonly inject: (context: FaultContext<C>) => Promise<void>;
  /** What holds from its begin to its heal. Absent where it is over, or changes, by itself. */
  readonly holds?: (context: FaultContext<C>) => readonly Probe[];
  /** Asks now whether it still holds; certificates `during`. Absent where nothing can be asked. */
  readonly askAgain?: (context: FaultContext<C>) => Promise<void>;
  /** What it goes on to do while the run is watched. Absent where it just lasts. */
  readonly goOn?: (context: FaultContext<C>, moments: Moments) => Promise<void>;
  /** Whether the watch may end for all of it. Absent where it may. */
  readonly mayEnd?: () => boolean;
  /** Gives back what was taken; certificates `after`. Idempotent, also after a failed inject. */
  readonly heal: (context: FaultContext<C>) => Promise<void>;
}

/** The times at which a fault goes on. */
export interface Moments {
  /** True at that moment; false once the watch is over without it. */
  reached(moment: When): Promise<boolean>;
  /** True so much later; false once the watch is over before that. */
  passed(ms: number): Promise<boolean>;
  /** Of each volume, whether that node has it mounted now. */
  areMountedOn(node: string): readonly boolean[];
}

/** A question to the cluster that proves a claim, or refutes it. */
export interface Probe {
  readonly claim: string;
  /** Answers whether the claim holds, and by what evidence. */
  readonly ask: () => Promise<{ readonly holds: boolean; readonly evidence: string }>;
}

/** Asks the probes one after the other and records a certificate for each; one that throws fails. */
export async function certify(
  recorder: Pick<Recorder, 'record'>,
  fault: string,
  moment: 'before' | 'during' | 'after',
  probes: readonly Probe[],
): Promise<void> {
  for (const { claim, ask } of probes) {
    const answer = await ask().catch((error: unknown) => ({
      holds: false,
      evidence: `the probe failed: ${String(error)}`,
    }));
    recorder.record({ type: 'certificate', fault, moment, claim, ...answer });
  }
}

type ActionStep = 'begin' | 'done' | 'heal' | 'healed' | 'failed';

export const stepOf =
  (name: string, { recorder, victim }: FaultContext) =>
  (step: ActionStep, detail?: string): void =>
    recorder.record({
      ...{ type: 'action', actor: 'fault', name, step, node: victim.node },
      ...(detail === undefined ? {} : { detail }),
    });

export interface LastingContext<C extends Capability = never> extends FaultContext<C> {
  readonly name: string;
  readonly machine: MachineWith<C>;
}

/** Certificates of what a step proved itself, to be recorded after it. */
export type Proofs = readonly (() => Promise<void>)[];

/** What a fault that breaks at once and lasts is made from. */
export interface LastingFault<C extends Capability = never> {
  readonly breaks: (context: LastingContext<C>) => Promise<void>;
  /** Gives it back. Must be idempotent, and may follow a `breaks` that failed: it also runs after Ctrl-C. */
  readonly mends: (context: LastingContext<C>) => Promise<void>;
  /** Hold before it and after it. */
  readonly whole: (context: LastingContext<C>) => readonly Probe[];
  /** Hold while it lasts. */
  readonly broken: (context: LastingContext<C>) => readonly Probe[];
}

/** What it is called, how long it lasts at least, and what it needs of a cluster. */
interface LastingName<C extends Capability> {
  readonly name: string;
  readonly leastMs: number;
  readonly needs?: readonly C[];
}

export const withMachine = <C extends Capability>(
  name: string,
  context: FaultContext<C>,
): LastingContext<C> => ({
  ...context,
  name,
  machine: context.testbed.machine(context.victim.node),
});

export const lastingFault = <const C extends Capability = never>(
  { name, leastMs }: LastingName<C>,
  { breaks, mends, whole, broken }: LastingFault<NoInfer<C>>,
): Fault<C> => ({
  name,
  leastMs,

  async inject(given): Promise<void> {
    const context = withMachine(name, given);
    const step = stepOf(name, context);
    await certify(context.recorder, name, 'before', whole(context));
    step('begin');
    await breaks(context);
    step('done');
    await certify(context.recorder, name, 'during', broken(context));
  },

  holds: (given) => broken(withMachine(name, given)),

  async heal(given): Promise<void> {
    const context = withMachine(name, given);
    const step = stepOf(name, context);
    step('heal');
    await mends(context);
    step('healed');
    await certify(context.recorder, name, 'after', whole(context));
  },
});

/**
 * `volumes`: those that it is for. What is done to the node meets all there; what is done to a pod, its
 * own. `C`: as that of a FaultContext.
 */
export interface RemedyContext<C extends Capability = never>
  extends Pick<FaultContext<C>, 'testbed' | 'recorder' | 'victim' | 'volumes'> {
  readonly name: string;
  /** Whether an admission policy asks for a proof that the node is fenced. */
  readonly statesProof: boolean;
  /** Aborted once the remedy is given up: it then begins nothing more. */
  readonly signal: AbortSignal;
}

/** `C`: what it needs of a cluster, as that of a Fault. */
export interface Remedy<C extends Capability = Capability> {
  readonly name: string;
  /** Acts once. Resolves to what came of it, where that is worth a line in the history. */
  readonly apply: (context: RemedyContext<C>) => Promise<string | undefined>;
  /** Takes back what would outlive the run. Idempotent; absent where nothing does. */
  readonly undo?: (context: RemedyContext<C>) => Promise<void>;
}
