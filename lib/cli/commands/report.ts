/** Rebuilds a run's verdict and report from its history, a batch's from its runs, or a certificate's page: `forcedetach report PATH…`. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type ExitCode,
  EvidenceError,
  describeError,
  exitCode,
  ForcedetachError,
  paste,
  plainText,
  readText,
  typed,
} from '../../core/index.ts';
import type { History } from '../../history/index.ts';
import { mysql } from '../../mysql/index.ts';
import { commandLine, exits, say } from '../command.ts';
import { mustExist } from '../library/run-folder.ts';
import { judgeHistory } from '../library/run-plan.ts';
import { verdictLines } from '../terminal/verdict-lines.ts';

/** Exits as the run did; of several, as the worst. */
export const report = (): Command =>
  commandLine(typed('report'), [
    ['the pages of a committed run', 'reports/samples/partition-force-delete-unfenced'],
    ['of a batch', 'reports/matrix/default'],
    ['every certificate of one driver version', 'certificates/DRIVER/VERSION.json'],
    [
      'several at once; the worst sets the exit code',
      'reports/samples/node-crash reports/samples/zombie',
    ],
  ])
    .description(
      'Writes report.html, verdict.json, junit.xml and summary.md again, and lost.jsonl where\n' +
        'commits were lost, from the history in each run’s folder; of a batch its report.html and\n' +
        'summary.md. Exits as the run did. Of a certificate (.json, .json.zst) it writes the page\n' +
        'beside it; of the file of a driver version the page of each certificate that it lists.',
    )
    .argument('<paths...>', 'folders of runs or batches, files of certificates')
    .action(
      exits(async (paths: readonly string[]) => {
        const codes: ExitCode[] = [];
        for (const path of paths) {
          const { text, code } = await rebuild(path.replace(/(?<=.)\/+$/, ''));
          process.stdout.write(`${text}\n`);
          codes.push(code);
        }
        return worstFirst.find((code) => codes.includes(code)) ?? exitCode.expected;
      }),
    );

/** An unexpected verdict outweighs one that is missing. */
const worstFirst = [
  ...[exitCode.unexpected, exitCode.infrastructure, exitCode.inconclusive, exitCode.open],
];

interface Rebuilt {
  /** For the terminal; control characters from files are not obeyed. */
  readonly text: string;
  /** Exit code that the run itself ended with. */
  readonly code: ExitCode;
}

async function rebuild(path: string): Promise<Rebuilt> {
  // Runs and batches are folders.
  if (/\.json(\.zst)?$/.test(path)) {
    const { writeCertificatePages } = await import('../../probe/index.ts');
    const pages = await writeCertificatePages(path);
    const text = plainText(pages.map((page) => `Page: ${page}`).join('\n'));
    return { text, code: exitCode.expected };
  }
  mustExist(path, 'a run or of a batch');
  if (existsSync(join(path, 'batch.json'))) return rebuildBatch(path);
  const { openHistory } = await import('../../history/index.ts');
  try {
    const history = openHistory(path);
    await mustBeItsHistory(path, history);
    return await rebuildRun(path, history);
  } catch (error) {
    if (!(error instanceof ForcedetachError) || error.code !== 'HISTORY_DAMAGED') throw error;
    say(`${describeError(error)}\nThe report shows what can still be read.`);
    return rebuildRun(path, openHistory(path, { salvage: true }));
  }
}

/** Throws EvidenceError `HISTORY_REPLACED`. */
async function mustBeItsHistory(folder: string, { sha256, seals }: History): Promise<void> {
  const { runSegment } = await import('../../history/index.ts');
  // One that was damaged is inconclusive, and its verdict says so.
  if (sha256 === undefined || seals.get(runSegment)?.brokenAt !== undefined) return;
  const path = join(folder, 'verdict.json');
  const was = historyOf(path);
  if (was === undefined || was === sha256) return;
  throw new EvidenceError(
    'HISTORY_REPLACED',
    `${path} was made from another history: its run.hist had the SHA-256 ${was}, this one has ${sha256}`,
    {
      hint: 'put back the one that belongs there; without verdict.json the history is judged by itself',
      command: paste(['mv', path, `${path}.other`]),
    },
  );
}

/** Undefined also of a verdict that can't be read: it is made again. */
function historyOf(verdict: string): string | undefined {
  try {
    const { historySha256 } = JSON.parse(readText(verdict)) as Readonly<Record<string, unknown>>;
    return typeof historySha256 === 'string' ? historySha256 : undefined;
  } catch {
    return undefined;
  }
}

/** Writes into `folder` all that the run of that history leaves, whatever kind of run it was. */
export async function rebuildRun(folder: string, history: History): Promise<Rebuilt> {
  const { exitCodeOf } = await import('../../judge/index.ts');
  const judged = await judgeHistory(history, mysql);
  await judged.write(folder);
  const text = verdictLines(judged, `${folder}/report.html`, process.stdout);
  return { text, code: exitCodeOf(judged.verdict) };
}

/** Of those that are missing. */
const runsShown = 3;

/** The batch's page and summary, from its batch.json and the verdicts of its runs. */
export async function rebuildBatch(folder: string): Promise<Rebuilt> {
  const { batchExitCode, missingRuns, runsOf } = await import('../../batch/index.ts');
  const { batchLines, readBatch, writeBatch } = await import('./batch.ts');
  const batch = readBatch(folder);
  const missing = missingRuns(folder, runsOf(batch));
  await writeBatch(folder, batch, batch.replay ?? '');
  const lines = batchLines(batch, folder);
  if (missing.length === 0) return { text: plainText(lines), code: batchExitCode(batch) };
  const shown = missing.slice(0, runsShown).join(', ');
  const what = `NOT CHECKED — ${missing.length} of its runs are missing, put them back: ${shown}`;
  return { text: plainText(`${what}\nbatch.json: ${lines}`), code: exitCode.inconclusive };
}
