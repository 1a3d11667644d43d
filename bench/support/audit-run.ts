/**
 * One audit of a server that runs: `node audit-run.ts CONTAINER SOCKET FOLDER SEED DATA-DIRECTORY`. Journal from
 * the history, rows from the pass in the lab, both reconciled as they come; the result as JSON. It
 * is a process of its own, so that its memory is the audit's alone.
 */
import { auditHeap, labNode } from '../../lib/kind/disk/containers.ts';
import { execWithInput } from '../../lib/kind/engine/commands.ts';
import { openStream } from '../../lib/kind/engine/run.ts';
import type { AuditRun } from './audit-judge.ts';
import type { PassEnd } from './audit-pass.ts';

const [container = '', socketPath = '', folder = '', seed = '', dataDirectory = ''] =
  process.argv.slice(2);
const startedMs = performance.now();
const ended = Promise.withResolvers<PassEnd>();
/** What came before there is somebody to judge it. */
const early: string[] = [];
let take = (line: string): void => void early.push(line);
const argv = execWithInput(container, ...labNode, ...auditHeap);
const pass = ['/app/bench/support/audit-pass.ts', socketPath, seed, dataDirectory];
await using stream = await openStream([...argv, ...pass], (line) => take(line));
stream.closed.then(() => ended.reject(new Error('the pass ended early')), ended.reject);

// In a run, all of this is loaded long before: so it is while the pass starts.
const { AuditJudge } = await import('./audit-judge.ts');
const judge = new AuditJudge(folder, seed);
take = (line) => {
  const end = judge.take(line);
  if (end !== undefined) ended.resolve(end);
};
early.forEach(take);
const result = judge.judge(await ended.promise);
const answer: AuditRun = { totalMs: performance.now() - startedMs, ...result };
process.stdout.write(JSON.stringify(answer));
