/** The fault port: what is taken from the victim, proven while it lasts, and always given back. */
import type { PodRef, Recorder, Testbed } from '../cluster/port.ts';
import type { Scenario } from '../experiment/scenario.ts';

export interface FaultContext {
  readonly testbed: Testbed;
  readonly recorder: Recorder;
  /** The pod that held the volume when the fault hit; its node is the victim. */
  readonly victim: PodRef;
  /** False leaves a crashed node down when the run heals. */
  readonly reboot: boolean;
  /** What a partition does to the victim's path to the disk. */
  readonly link: Scenario['link'];
  /** What a crash does to writes that the disk had acknowledged but not flushed. */
  readonly powerLoss: Scenario['powerLoss'];
}

export interface Fault {
  readonly name: string;
  /** Breaks the victim; certificates `before` and `during` are recorded on the way. */
  inject(context: FaultContext): Promise<void>;
  /** Gives back what was taken; certificates `after`. Idempotent, also after a failed inject. */
  heal(context: FaultContext): Promise<void>;
}

export interface Probe {
  readonly claim: string;
  /** Answers whether the claim holds, and by what evidence. */
  readonly ask: () => Promise<{ readonly holds: boolean; readonly evidence: string }>;
}

/** Asks the probes one after the other and records a certificate for each; one that throws fails. */
export async function certify(
  recorder: Recorder,
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
