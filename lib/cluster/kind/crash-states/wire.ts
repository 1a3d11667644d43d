/** How the tool in the container talks to whoever started it: one JSON object a line on stdout. */
import type { StateResult } from '../../../crash-states/explore.ts';
import type { CrashStatePlan, PlanOptions } from '../../../crash-states/plan-states.ts';

/** What the tool is asked for; it takes this as JSON in its one argument. */
export interface StatesRequest extends Omit<PlanOptions, 'firstAckMs'> {
  /** The run's folder, as the container sees it. */
  readonly folder: string;
  /** Numbers of loop devices that nobody else uses: one a worker. */
  readonly loops: readonly number[];
  /** Directory of the images; in memory, since nothing there has to last. */
  readonly images: string;
  /** Directory of the unpacked data of all writes. */
  readonly scratch: string;
  /** Only the state of this number, thoroughly, with its image kept there. Default all. */
  readonly only?: { readonly number: number; readonly keepAt: string };
}

/** The plan without its states. */
export interface PlannedMessage extends Pick<CrashStatePlan, 'moments'> {
  readonly type: 'planned';
  readonly states: number;
  /** Acknowledged operations of the run. */
  readonly acked: number;
}

export type StatesMessage =
  | PlannedMessage
  | { readonly type: 'state'; readonly result: StateResult }
  | { readonly type: 'done' }
  | {
      readonly type: 'failed';
      readonly evidence: boolean;
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
    };
