/** What the engine says of its things. */
import * as engine from './commands.ts';
import { commandError, run, tryRun } from './run.ts';

/** Describes those that exist, as the engine does; the others are left out. */
export async function inspect(
  kind: engine.EngineObject,
  names: readonly string[],
): Promise<unknown[]> {
  if (names.length === 0) return [];
  const argv = engine.inspect(kind, names);
  const result = await tryRun(argv);
  // Exit 1 with a list on stdout: some of the names are not there.
  if (result.exitCode !== 0 && !result.stdout.startsWith('[')) throw commandError(argv, result);
  return JSON.parse(result.stdout) as unknown[];
}

/** Number of the container's first process, as the host and the lab count; `0` while it is off. */
export const firstProcessOf = (container: string): Promise<string> =>
  run(engine.inspect('container', [container], '{{.State.Pid}}'));

/** Ids (a volume's name) of the things with these labels (`key` or `key=value`). */
export const list = async (...asked: Parameters<typeof engine.list>): Promise<string[]> =>
  linesOf(await run(engine.list(...asked)));

export const linesOf = (said: string): string[] => said.split('\n').filter((line) => line !== '');
