/** From the folder of a finished run or procedure to the answers that its history gives. */
import { relative } from 'node:path';
import { isStarved } from '../../lib/judge/index.ts';
import { stockTimers, type Basis } from '../../lib/scenario/index.ts';
import {
  type RunRecord,
  type SetupRecord,
  replayOf,
  openHistory,
  type SmallRecord,
} from '../../lib/history/index.ts';
import { dateOf, versionsOf } from '../../lib/batch/index.ts';
import { readFinishedRun } from './recorded-run.ts';
import { claims } from './list.ts';
import { answerId, type AnswerLine } from './page.ts';
import type { Claim } from './claim.ts';
import type { ClaimReading } from './reading.ts';
import { claimOf } from './procedures/notes.ts';

/** What one history says of one claim. */
export interface AnsweredClaim {
  readonly claim: Claim;
  readonly reading: ClaimReading;
  /** For the store; absent where there is no answer, and of a prediction. */
  readonly measured: AnswerLine | undefined;
}

/** What a history is about, and how to ask it. */
interface ClaimSource {
  readonly source: string;
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
  const about = isProcedure ? procedureSource(records, setup) : runSource(folder, run);
  const { source, basis } = about;
  const seed = isProcedure ? null : run.seed;
  const versions = { kubernetes: 'unknown', ...versionsOf(setup?.versions ?? {}) };
  const date = dateOf(records) ?? '';
  const answered = { kind: 'claim', seed, versions, source, date } as const;
  return wanted.flatMap((claim): AnsweredClaim[] => {
    const reading = about.read(claim);
    if (reading === undefined) return [];
    if (typeof reading === 'string' || basis === 'predicted') {
      return [{ claim, reading, measured: undefined }];
    }
    const id = answerId(claim.number, source);
    const scenario = { claim: claim.number };
    return [{ claim, reading, measured: { ...answered, id, scenario, basis, outcome: reading } }];
  });
}

function runSource(folder: string, { replay, basis, scenario }: RunRecord): ClaimSource {
  const run = readFinishedRun(folder);
  const kept = /^reports\/(samples|matrix\/[^/]+\/cells)\/[^/]+/.exec(relative('.', folder))?.[0];
  return {
    source: kept ?? replayOf(replay, scenario).replace(/ --(seed|cluster|cluster-name) \S+/g, ''),
    basis,
    read: ({ read }) => {
      if (run === undefined || read === undefined) return undefined;
      // Most answers are times, and what came late was noted late.
      if (isStarved(run.verdict.reasons)) return 'the machine did not keep time';
      // The claims are about stock databases, which go on while they can.
      return run.story.scenario.selfFence.kind === 'off' ? read(run) : 'the database fenced itself';
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
    setup?.timers?.nodeMonitorGraceMs === stockTimers.grace &&
    setup.timers.forceDetachAfterMs === stockTimers.forceDetachAfter;
  return {
    source: `npx zx research/claims.mjs ${number}`,
    basis: stock ? 'measured' : 'shortened',
    read: (claim) => {
      const { procedure } = claim;
      if (claim.number !== number || procedure === undefined) return undefined;
      if (failed !== undefined) return `the procedure failed: ${failed.message}`;
      return procedure.read(records);
    },
  };
}
