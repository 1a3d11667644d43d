/**
 * From a scenario to a judged run, and from a history to its verdict, whatever database is tested. What a
 * kind of database needs is imported when it is wanted: --help and --dry-run answer at once.
 */
import type { Checker } from '../checkers/checker.ts';
import type { Database } from '../database/port.ts';
import type { RunOptions } from '../experiment/run/run-context.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import type { GroupVerdict } from '../group-replication/verdict.ts';
import type { History } from '../history/reader.ts';

/** Verdict of whatever kind, with the fields of verdict.json. */
export type AnyVerdict = Verdict | GroupVerdict;

/** A verdict, and what is made of it. */
export interface Judged {
  readonly verdict: AnyVerdict;
  readonly headline: string;
  /** Leaves what the run leaves for people and machines; the same history gives the same bytes. */
  write(folder: string): Promise<void>;
}

/** From nothing to a verdict. Throws as `recordRun` does. */
export async function playAndJudge(options: RunOptions): Promise<Judged> {
  const { openHistory } = await import('../history/reader.ts');
  const isGroup = options.scenario.database === 'group-replication';
  const { recordRun } = await import('../experiment/run/sequence.ts');
  if (isGroup) await recordRun(options, (await import('../group-replication/run-group.ts')).group);
  else await recordRun(options, (await import('../experiment/run/run.ts')).oneServer);
  const judge = isGroup ? judgeOfGroup : judgeOfServer;
  const { database, custom: { checkers = [] } = {} } = options;
  return judge(openHistory(options.folder), { database, checkers });
}

/** The same verdict from its history alone, of whatever version. */
export async function judgeHistory(history: History, database: Database): Promise<Judged> {
  const { isGroupRun } = await import('../group-replication/story.ts');
  return (isGroupRun(history.smallRecords()) ? judgeOfGroup : judgeOfServer)(history, {
    database,
  });
}

/** `checkers`: a caller's, after ours. */
interface Judging {
  readonly database: Database;
  readonly checkers?: readonly Checker[];
}

async function judgeOfGroup(history: History, judging: Judging): Promise<Judged> {
  const { judgeGroup } = await import('../group-replication/judge-group.ts');
  const { groupHeadlineOf } = await import('../group-replication/screen.ts');
  const { writeGroupOutputs } = await import('../group-replication/write.ts');
  const verdict = judgeGroup(history, judging);
  const write: Judged['write'] = (folder) => writeGroupOutputs(folder, verdict, history, judging);
  return { verdict, headline: groupHeadlineOf(verdict, judging.database), write };
}

async function judgeOfServer(history: History, judging: Judging): Promise<Judged> {
  const { assembleVerdict } = await import('../experiment/verdict/assemble.ts');
  const { headlineOf } = await import('../experiment/verdict/headline.ts');
  const { writeRun } = await import('../report/write.ts');
  const verdict = assembleVerdict(history, judging);
  const write: Judged['write'] = (folder) => writeRun(folder, verdict, history, judging);
  return { verdict, headline: headlineOf(verdict), write };
}
