/** What an outside client was answered by one node within a span: one that is cut off answers nothing. */
import { type ClientAnswer, type Meter, sessionKey } from '../../history/index.ts';
import type { Access } from './access.ts';

/** A span on the run's clock, which ends before `toMs`. */
export type CutOffWindow = Pick<Access, 'node' | 'fromMs' | 'toMs'>;

export interface CutOffAnswers {
  readonly count: number;
  /** Absent where there was none. */
  readonly firstMs: number | undefined;
}

/** Fed sessions, outcomes and reads in time order, one pass. Without a window nothing counts. */
export function cutOffAnswerMeter(window: CutOffWindow | undefined): Meter<CutOffAnswers> {
  const sessions = new Set<string>();
  let count = 0;
  let firstMs: number | undefined;
  /** A session that was opened is one, too: the server said who it is. */
  const isAnswer = (answer: ClientAnswer, node: string): boolean =>
    answer.type === 'outcome'
      ? answer.outcome === 'ok' && sessions.has(sessionKey(answer))
      : answer.server?.node === node;
  return {
    see(answer) {
      if (window === undefined || answer.client !== 'outside') return;
      const { node, fromMs, toMs } = window;
      const isOpened = answer.type === 'session';
      if (isOpened && answer.server?.node === node) sessions.add(sessionKey(answer));
      if (answer.t < fromMs || answer.t >= toMs || !isAnswer(answer, node)) return;
      count += 1;
      firstMs ??= answer.t;
    },
    result: () => ({ count, firstMs }),
  };
}
