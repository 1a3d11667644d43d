/** A sweep's folder: its state, to go on from, and what it came to. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError, readJson, writeOutput } from '../../core/index.ts';
import {
  type SweepReport,
  shrunkFindings,
  newSweep,
  sweepStateSchema,
  type SweepState,
} from '../../sweep/index.ts';
import { folderName, makeFolder } from '../library/run-folder.ts';
import type { SweepFlags } from '../flags/sweep-flags.ts';

const stateFile = 'state.json';

export const newFolder = (): string => folderName('sweep', randomBytes(4).toString('hex'));

/**
 * Where the folder has a sweep, its state. Throws UsageError `OUT_NOT_EMPTY`, `OTHER_SWEEP`,
 * `STATE_UNREADABLE`.
 */
export function begin(folder: string, { seed, disk }: SweepFlags): SweepState {
  makeFolder(folder);
  const files = readdirSync(folder);
  if (files.length === 0) return newSweep(seed ?? randomBytes(8).toString('hex'), disk);
  if (!files.includes(stateFile)) {
    throw new UsageError('OUT_NOT_EMPTY', `${folder} contains files that are not of a sweep`, {
      hint: 'give --out a new or an empty folder, or one with a sweep to continue',
      again: ['--out', `${folder}-2`],
    });
  }
  const state = readState(join(folder, stateFile));
  const isSame = (seed ?? state.seed) === state.seed && (disk ?? state.disk) === state.disk;
  if (isSame) return state;
  throw new UsageError('OTHER_SWEEP', `${folder} contains a sweep with another seed or disk`, {
    hint: `omit --seed and --disk to continue it (seed ${state.seed}), or give another --out`,
    again: ['--out', `${folder}-2`],
  });
}

/** A state of an earlier version, or one that was cut short, cannot be read. */
function readState(path: string): SweepState {
  const hint = 'give another --out; a sweep of an earlier version cannot be continued';
  try {
    const example = 'reports/…-sweep-…/state.json';
    return readJson(path, { kind: 'state', schema: sweepStateSchema, hint, example });
  } catch (cause) {
    throw new UsageError('STATE_UNREADABLE', `${path} is not the state of a sweep`, {
      hint,
      cause,
    });
  }
}

export const save = (folder: string, state: SweepState): void =>
  writeOutput(join(folder, stateFile), JSON.stringify(state));

/** sweep.json and the findings, at most so many. */
export function writeSweepReport(folder: string, report: SweepReport, most: number): void {
  writeOutput(join(folder, 'sweep.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  const findingsFolder = join(folder, 'findings');
  rmSync(findingsFolder, { recursive: true, force: true });
  mkdirSync(findingsFolder);
  for (const { file, text } of shrunkFindings(report, { folder: findingsFolder, most })) {
    writeOutput(join(findingsFolder, file), text);
  }
}
