/** Runs one program and tells how it ended; for the system tools that the disk is made of. */
import { execFile } from 'node:child_process';
import { InfrastructureError } from '../../core/index.ts';

export interface ProgramResult {
  readonly exitCode: number;
  /** stdout and stderr together, trimmed. */
  readonly output: string;
  readonly stdout: string;
}

/** Resolves with any exit code; rejects where the program is missing or was killed. */
export const runProgram = (program: string, ...args: readonly string[]): Promise<ProgramResult> =>
  new Promise((resolve, reject) => {
    execFile(program, args, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') {
        reject(failed(program, args, error.message, error));
        return;
      }
      const exitCode = typeof error?.code === 'number' ? error.code : 0;
      resolve({ exitCode, stdout, output: `${stdout}${stderr}`.trim() });
    });
  });

/** Runs it as `run`, and rejects with any exit code but 0. Resolves to stdout. */
export async function must(program: string, ...args: readonly string[]): Promise<string> {
  const { exitCode, output, stdout } = await runProgram(program, ...args);
  if (exitCode !== 0) throw failed(program, args, `exit code ${exitCode}: ${output}`);
  return stdout;
}

function failed(
  program: string,
  args: readonly string[],
  why: string,
  cause?: unknown,
): InfrastructureError {
  const command = [program, ...args].map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word),
  );
  return new InfrastructureError('COMMAND_FAILED', `${program} failed: ${why}`, {
    command: command.join(' '),
    cause,
  });
}
