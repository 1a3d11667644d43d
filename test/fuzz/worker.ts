/** A process that runs one command after the other, as its file in experiments/ does, and tells how each ended. */
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

const taskSchema = z.object({
  script: z.string(),
  args: z.array(z.string()),
  number: z.number(),
});
export type Task = z.output<typeof taskSchema>;

export interface Ended {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Properties that every object had afterwards. */
  readonly polluted?: readonly string[];
}

/** Of each stream. */
const keptLength = 200_000;

process.on('message', (message) => void answer(taskSchema.parse(message)));
process.send?.('ready');

async function answer({ script, args, number }: Task): Promise<void> {
  const said = { stdout: '', stderr: '' };
  const restore = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (text: string | Uint8Array): boolean => {
      if (said[name].length < keptLength) said[name] += String(text);
      return true;
    };
    return () => (stream.write = write);
  });
  process.argv = [process.execPath, script, ...args];
  process.exitCode = undefined;
  try {
    // Each time anew: the file's own lines are what a user starts.
    await import(`${pathToFileURL(script).href}?case=${number}`);
  } catch (error) {
    said.stderr += error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.exitCode = 1;
  }
  for (const each of restore) each();
  const polluted = cleaned();
  const code = process.exitCode;
  process.exitCode = undefined;
  process.send?.({ code, ...said, polluted } satisfies Ended);
}

/** Takes away what was put on every object, and names it. */
function cleaned(): string[] {
  const names = Object.keys(Object.prototype);
  for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  return names;
}
