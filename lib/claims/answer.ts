/** From the folder of a finished run or procedure to the answers that its history gives. */
import { relative } from 'node:path';
import { isStarved, starvedReason } from '../experiment/evidence/machine-time.ts';
import { stockTimersMs, type Basis } from '../experiment/scenario.ts';
import type { RunRecord, SetupRecord } from '../history/events.ts';
import { openHistory, type SmallRecord } from '../history/reader.ts';
import { readFinishedRun } from './recorded-run.ts';
import { claims } from './list.ts';
import type { MeasuredAnswer } from './page.ts';
import type { ClaimReading, Claim } from './claim.ts';
import { claimOf } from './procedures/notes.ts';

/** What one history says of one claim. */
export interface AnsweredClaim {
  readonly claim: Claim;
  readonly reading: ClaimReading;
  /** Read from docs/reference/claims.json; absent where there is no answer. */
  readonly measured: MeasuredAnswer | undefined;
}

/** What a history is about, and how to ask it. */
interface ClaimSource {
  readonly from: string;
  readonly basis: Basis;
  /** Undefined where it has nothing to do with that claim. */
  readonly read: (claim: Claim) => ClaimReading | undefined;
}

/** Throws EvidenceError where there is no history. */
export function readAnswers(folder: string, wanted: readonly Claim[] = claims): AnsweredClaim[] {
  const records = [...openHistory(folder).smallRecords()];
  const run = records.find((record) => record.type === 'run');
  const setup = records.find((record) => record.type === 'setup');
  const isProcedure = run === undefined || run.claim !== undefined;
  const source = isProcedure ? procedureSource(records, setup) : runSource(folder, run);
  return wanted.flatMap((claim): AnsweredClaim[] => {
    const reading = source.read(claim);
    if (reading === undefined) return [];
    if (typeof reading === 'string') return [{ claim, reading, measured: undefined }];
    const { from, basis } = source;
    const kubernetes = setup?.versions['kubernetes'] ?? 'unknown';
    const about = { claim: claim.number, from, date: dateOf(records), basis, kubernetes };
    return [{ claim, reading, measured: { ...about, ...reading } }];
  });
}

function runSource(folder: string, { replay, basis }: RunRecord): ClaimSource {
  const run = readFinishedRun(folder);
  const kept = /^reports\/(samples|matrix\/[^/]+\/cells)\/[^/]+/.exec(relative('.', folder))?.[0];
  return {
    from: kept ?? replay.replace(/ --(seed|cluster|cluster-name) \S+/g, ''),
    basis,
    read: ({ read }) => {
      if (run === undefined || read === undefined) return undefined;
      // Most answers are times, and what came late was noted late.
      if (isStarved(run.verdict.incompleteBecause)) return starvedReason;
      // The claims are about stock databases, which go on while they can.
      return run.story.scenario.selfFence === 'off' ? read(run) : 'the database fenced itself';
    },
  };
}

function procedureSource(
  records: readonly SmallRecord[],
  setup: SetupRecord | undefined,
): ClaimSource {
  const begun = records.find((record) => record.type === 'action');
  const failed = records.find((record) => record.type === 'error');
  const number = claimOf(begun?.name);
  const stock =
    setup?.timers?.nodeMonitorGraceMs === stockTimersMs.graceMs &&
    setup.timers.forceDetachAfterMs === stockTimersMs.forceDetachAfterMs;
  return {
    from: `npx zx experiments/claims.mjs ${number}`,
    basis: stock ? 'measured' : 'shortened',
    read: (claim) => {
      const { procedure } = claim;
      if (claim.number !== number || procedure === undefined) return undefined;
      if (failed !== undefined) return `the procedure failed: ${failed.message}`;
      return procedure.read(records);
    },
  };
}

const dateOf = (records: readonly SmallRecord[]): string =>
  new Date(records.find(({ wall }) => wall !== undefined)?.wall ?? 0).toISOString().slice(0, 10);
