/** What was, or would have been, sent as an operation. */
import { sessionContents, type OpContent } from '../../lib/history/workload/ledger.ts';
import type { OpId } from '../../lib/history/workload/sql.ts';

export const expectedContent = (seed: string, id: OpId, transferEvery?: number): OpContent =>
  sessionContents(seed, id, transferEvery)(id.seq);
