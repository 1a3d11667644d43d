/** A run that test:full makes on kind. */

export type MeasuredExperiment =
  | 'network-partition'
  | 'node-crash'
  | 'node-reboot'
  | 'healthy-node'
  | 'api-partition'
  | 'zombie'
  | 'uncertain-attachment'
  | 'stale-global-mount'
  | 'same-node-recreate';

export interface MeasuredCase {
  /** Kebab-case; in the source of its lines in the store. */
  readonly name: string;
  readonly experiment: MeasuredExperiment;
  /** Beyond the shortened timers; remedy and fault are the experiment's own. */
  readonly flags: string;
  /** What a reader learns from it, one line. */
  readonly shows: string;
  /** Whether another node mounts the volume before the heal; undefined where chance decides. */
  readonly secondMount: boolean | undefined;
}
