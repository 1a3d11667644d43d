/** The port to the clients that write and read while a run breaks things. */
import type { ClientPlan, SegmentList, ClientSide } from '../../history/index.ts';

export interface WriterSpec extends ClientPlan {
  readonly client: ClientSide;
  /** Seed of this writer's own random stream. */
  readonly seed: string;
}

/** Running writers: real processes on kind. They record into the run's history by themselves. */
export interface Writers {
  /** Acknowledged operations so far by client and node that acknowledged. */
  acked(): readonly {
    readonly client: ClientSide;
    readonly node: string;
    readonly count: number;
  }[];
  /** The client on the victim's side changes the schema, now; its journal tells how that ended. */
  changeSchema(): void;
  /**
   * Stops sending, waits for what is under way (bounded), closes. Resolves to the segments that they
   * have written, as they counted them. Idempotent.
   */
  stop(): Promise<SegmentList>;
}
