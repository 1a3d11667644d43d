/**
 * `npm run pages`: makes anew what git holds of the committed runs and batches beside their
 * histories (verdicts, summaries, pictures, pages), after the code that makes them has changed.
 * What git does not hold is made by `npx forcedetach report FOLDER`, and left to that.
 */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rebuildBatch, rebuildRun } from '../lib/cli/commands/report.ts';
import { openHistory } from '../lib/history/reader.ts';
import { committedFiles, committedWith } from '../test/support/committed.ts';

const held = new Set(committedFiles('reports'));

async function renew(folder: string): Promise<void> {
  const fresh = mkdtempSync(join(tmpdir(), 'forcedetach-pages-'));
  try {
    await rebuildRun(fresh, openHistory(folder));
    for (const name of readdirSync(fresh)) {
      const file = join(folder, name);
      if (held.has(file)) copyFileSync(join(fresh, name), file);
    }
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

const wanted = process.argv.slice(2);
const asked = (folder: string): boolean =>
  wanted.length === 0 || wanted.some((part) => folder.includes(part));

const runs = committedWith('history/run.hist').filter(asked);
for (const folder of runs) await renew(folder);
const batches = committedWith('batch.json').filter(asked);
for (const folder of batches) await rebuildBatch(folder);
process.stdout.write(`${runs.length} runs and ${batches.length} batches rebuilt\n`);
