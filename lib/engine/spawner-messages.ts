/** What the runner and the process that starts commands say to each other (IPC, JSON). */
import type { ErrorDetail } from '../errors.ts';
import type { CommandRequest, CommandResult } from './command.ts';

/** What begins a task. */
export type Start =
  | { readonly type: 'run'; readonly request: CommandRequest }
  | { readonly type: 'open'; readonly argv: readonly string[] }
  | { readonly type: 'fork'; readonly path: string };

/** What a task that has begun is told: a command, a stream (the next two), a forked process. */
export type Order =
  | { readonly type: 'abort' }
  | { readonly type: 'write'; readonly line: string }
  | { readonly type: 'close' }
  | { readonly type: 'tell'; readonly message: unknown }
  | { readonly type: 'kill' };

/** What is heard of a task. */
export type News =
  | { readonly type: 'line'; readonly line: string }
  | { readonly type: 'end'; readonly result: CommandResult }
  | { readonly type: 'opened' }
  | { readonly type: 'closed' }
  | { readonly type: 'told'; readonly message: unknown }
  | { readonly type: 'exited'; readonly exit: Exit }
  | { readonly type: 'failed'; readonly reason: string; readonly detail?: ErrorDetail };

/** How a forked process ended. */
export interface Exit {
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  /** The last 4 KiB of what it said. */
  readonly stderr: string;
}

interface OfTask {
  readonly id: number;
}
export type ToSpawner = OfTask & (Start | Order);
export type FromSpawner = OfTask & News;
