/** Each lost commit by name: what it was, who acknowledged it, and when. */
import {
  type ImageLabel,
  sessionContents,
  type OpContent,
  type OpId,
} from '../../history/index.ts';
import type { Epoch } from './journal.ts';
import type { OnLost } from './losses.ts';

export interface LostCommit extends OpId, OpContent {
  /** The copy of the volume that lacks it. */
  readonly image: ImageLabel;
  /** ms on the run's clock. */
  readonly ackedAtMs: number;
  /** Node of the server that acknowledged it; absent where the session's record is missing. */
  readonly node?: string;
  readonly epoch: Epoch;
}

/** Session by session, in order of seq. */
export function naming(
  image: ImageLabel,
  seed: string,
  onLost: (commit: LostCommit) => void,
): OnLost {
  let session: { readonly of: object; readonly sent: (seq: number) => OpContent } | undefined;
  return (log, seq, epoch) => {
    if (session?.of !== log) session = { of: log, sent: sessionContents(seed, log.id) };
    const { node } = log;
    const by = node === undefined ? {} : { node };
    const ackedAtMs = log.ackedAtMs(seq);
    onLost({ image, ...log.id, seq, ...session.sent(seq), ackedAtMs, ...by, epoch });
  };
}
