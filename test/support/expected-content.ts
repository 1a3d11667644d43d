/** What was, or would have been, sent as an operation. */
import { sessionContents, type OpContent, type OpId } from '../../lib/history/workload.ts';

export const expectedContent = (seed: string, id: OpId, transferEvery?: number): OpContent =>
  sessionContents(seed, id, transferEvery)(id.seq);
