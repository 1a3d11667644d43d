/**
 * `npm run pages`: makes anew what git holds of the committed runs and batches beside their
 * histories (verdicts, summaries, pictures, pages), after the code that makes them has changed.
 * What git does not hold is made by `npx zx experiments/report.mjs FOLDER`, and left to that.
 */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from '../lib/engine/shell.ts';
import { rebuildBatch, rebuildRun } from '../lib/cli/batch/rebuild.ts';
import { openHistory } from '../lib/history/reader.ts';

const listed = await $({ quiet: true })`git ls-files reports`;
const held = new Set(listed.stdout.trim().split('\n'));

/** The folders that hold such a file. */
const foldersOf = (suffix: string): readonly string[] =>
  [...held].filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length));

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

// A lab's histories have no verdict.
const runs = foldersOf('/history/run.hist')
  .filter((folder) => held.has(join(folder, 'verdict.json')))
  .filter(asked);
for (const folder of runs) await renew(folder);
const batches = foldersOf('/batch.json').filter(asked);
for (const folder of batches) await rebuildBatch(folder);
process.stdout.write(`${runs.length} runs and ${batches.length} batches made anew\n`);
