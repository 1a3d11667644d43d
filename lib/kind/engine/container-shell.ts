/** A node that is a container: the engine runs what is asked for inside it, and holds or ends all of it. */
import pRetry from 'p-retry';
import { scriptWords, type WholeNodeShell } from '../../run/index.ts';
import * as engine from './commands.ts';
import { pasteable, run, tryRun } from './run.ts';

/** What runc says where a task does not freeze. */
const freezerIsBusy = 'unable to freeze';

/** `timeoutMs`: of each script. Default: the engine's. */
export const containerShell = (
  container: string,
  { timeoutMs }: { readonly timeoutMs?: number } = {},
): WholeNodeShell => ({
  node: container,
  run: (argv, options) => tryRun(engine.exec(container, ...argv), options),
  sh: (script, ...args) => run(engine.exec(container, ...scriptWords(script, args)), { timeoutMs }),
  outOfBand: true,
  byHand: (argv) => pasteable(engine.exec(container, ...argv)),
  suspend: () => pause(container),
  resume: async () => void (await run(engine.unpause(container))),
  powerOff: async () => void (await run(engine.kill(container))),
  powerOn: async () => void (await run(engine.boot(container))),
});

/**
 * On cgroup v1 runc gives up, and thaws again, when a task that just forks, or that waits for its share
 * of a processor, keeps the freezer at FREEZING (libcontainer/cgroups/fs/freezer.go): ask anew.
 */
async function pause(container: string): Promise<void> {
  const shouldRetry = ({ error }: { readonly error: Error }): boolean =>
    error.message.includes(freezerIsBusy);
  const often = { retries: 60, minTimeout: 50, maxTimeout: 250, maxRetryTime: 15_000 };
  await pRetry(() => run(engine.pause(container)), { ...often, shouldRetry });
}
