/** What a process has started and that goes on: each leads a group of its own, which no Ctrl-C reaches. */
import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

/** Until it has ended. */
export function remember(child: ChildProcess): void {
  running.add(child);
  const forget = (): void => void running.delete(child);
  child.once('error', forget).once('close', forget);
}

/** For the end of this process: nobody acts for a run that is gone. */
export function killChildren(): void {
  for (const child of running) killGroup(child, 'SIGKILL');
}

/** Ends the group of a process that leads one. No error where it is gone, or was never started. */
export function killGroup(
  { pid }: { readonly pid?: number | undefined },
  signal: NodeJS.Signals,
): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}
