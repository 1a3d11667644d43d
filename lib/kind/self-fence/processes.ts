/** The database's processes as the sidecar sees them: it shares the pod's process namespace. */
import { readdir, readFile } from 'node:fs/promises';

/** Ends every process of that name at once; resolves to those it ended. */
export async function killAll(name: string, proc = '/proc'): Promise<number[]> {
  const killed: number[] = [];
  for (const entry of await readdir(proc)) {
    if (!/^\d+$/.test(entry)) continue;
    const comm = await readFile(`${proc}/${entry}/comm`, 'utf8').catch(() => '');
    if (comm.trim() === name && kill(Number(entry))) killed.push(Number(entry));
  }
  return killed;
}

/** False where it was gone already. */
function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
