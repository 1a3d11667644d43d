/** Runs on a replication group. */
import { judgeGroup } from '../../group-replication/judge-group.ts';
import { recordGroup } from '../../group-replication/run-group.ts';
import type { GroupVerdict } from '../../group-replication/verdict.ts';
import { groupHeadlineOf } from '../../group-replication/screen.ts';
import { writeGroupOutputs } from '../../group-replication/write.ts';
import type { TestedKind } from './kind.ts';

export const groupReplication: TestedKind<GroupVerdict> = {
  record: recordGroup,
  judge: judgeGroup,
  headline: groupHeadlineOf,
  write: writeGroupOutputs,
};
