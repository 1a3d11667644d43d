/**
 * The lab: one privileged container beside the cluster that sees its shared directory, its loop
 * devices and its nodes' processes. The disk and its observer act through it, so that nothing of
 * this project has to run on the host itself.
 */
import type { LineStream } from '../../../engine/line-stream.ts';

export interface ExecOptions {
  /** Default 60 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Lab {
  /** Name of the container, for commands that a person may paste. */
  readonly container: string;
  /**
   * Runs a command in the lab and resolves to its stdout; rejects when it exits with an error, or
   * does not end in time, or is aborted: what runs in the lab may then go on.
   */
  exec(argv: readonly string[], options?: ExecOptions): Promise<string>;
  /** Starts a command in the lab; each line of its stdout goes to `onLine`. Ended by disposal. */
  stream(argv: readonly string[], onLine: (line: string) => void): Promise<LineStream>;
}
