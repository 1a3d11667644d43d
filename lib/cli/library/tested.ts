/**
 * From a scenario to a judged run, and from a history to its verdict, whatever database is tested. What a
 * kind of database needs is imported when it is wanted: --help and --dry-run answer at once.
 */
import type { Checker, Verdict, GroupVerdict } from '../../judge/index.ts';
import type { Database, RunOptions } from '../../run/index.ts';
import type { History } from '../../history/index.ts';

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
  const { openHistory } = await import('../../history/index.ts');
  const isGroup = options.scenario.database === 'group-replication';
  const { recordRun } = await import('../../run/index.ts');
  if (isGroup) await recordRun(options, (await import('../../run/index.ts')).group);
  else await recordRun(options, (await import('../../run/index.ts')).oneServer);
  const judge = isGroup ? judgeOfGroup : judgeOfServer;
  const { database, custom: { checkers = [] } = {} } = options;
  return judge(openHistory(options.folder), { database, checkers });
}

/** The same verdict from its history alone, of whatever version. */
export async function judgeHistory(history: History, database: Database): Promise<Judged> {
  const { isGroupRun } = await import('../../judge/index.ts');
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
  const { judgeGroup } = await import('../../judge/index.ts');
  const { groupHeadlineOf } = await import('../../judge/index.ts');
  const { writeGroupOutputs } = await import('../../report/index.ts');
  const verdict = judgeGroup(history, judging);
  const write: Judged['write'] = (folder) => writeGroupOutputs(folder, verdict, history, judging);
  return { verdict, headline: groupHeadlineOf(verdict, judging.database), write };
}

async function judgeOfServer(history: History, judging: Judging): Promise<Judged> {
  const { assembleVerdict } = await import('../../judge/index.ts');
  const { headlineOf } = await import('../../judge/index.ts');
  const { writeRun } = await import('../../report/index.ts');
  const verdict = assembleVerdict(history, judging);
  const write: Judged['write'] = (folder) => writeRun(folder, verdict, history, judging);
  return { verdict, headline: headlineOf(verdict), write };
}
