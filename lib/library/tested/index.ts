/**
 * The one place that tells runs apart by the kind of database that they test. What a kind needs is
 * imported when it is asked for: --help and --dry-run answer at once.
 */
import type { Checker } from '../../checkers/checker.ts';
import { stockDatabaseKind, type DatabaseKind } from '../../database/kinds/index.ts';
import type { RunOptions } from '../../experiment/run/run-context.ts';
import type { History } from '../../history/reader.ts';
import type { AnyVerdict, Judged, TestedKind } from './kind.ts';

export type { AnyVerdict, Judged } from './kind.ts';

interface JudgedKind {
  readonly record: (options: RunOptions) => Promise<void>;
  readonly judge: (history: History, own: readonly Checker[]) => Judged;
}

const tested: Readonly<Record<DatabaseKind, () => Promise<JudgedKind>>> = {
  'single-server': async () => judging((await import('./single-server.ts')).singleServer),
  'group-replication': async () =>
    judging((await import('./group-replication.ts')).groupReplication),
};

const judging = <V extends AnyVerdict>(kind: TestedKind<V>): JudgedKind => ({
  record: kind.record,
  judge(history, own) {
    const verdict = kind.judge(history, own);
    return {
      verdict,
      headline: kind.headline(verdict),
      write: (folder) => kind.write(folder, verdict, history),
    };
  },
});

/** From nothing to a verdict. Throws as `recordRun` does. */
export async function playAndJudge(options: RunOptions): Promise<Judged> {
  const { openHistory } = await import('../../history/reader.ts');
  const { record, judge } = await tested[options.scenario.database ?? stockDatabaseKind]();
  await record(options);
  return judge(openHistory(options.folder), options.custom?.checkers ?? []);
}

/** The same verdict from its history alone, of whatever version. */
export async function judgeHistory(history: History): Promise<Judged> {
  const { isGroupRun } = await import('../../group-replication/story.ts');
  const kind = isGroupRun(history.smallRecords()) ? 'group-replication' : stockDatabaseKind;
  return (await tested[kind]()).judge(history, []);
}
