/** An answer of trials held against the modes that its caller expects. Pure. */
import type { DiskMode } from '../disk-modes/index.ts';
import { answerWord } from './texts.ts';
import type { MeasuredClass } from './trials/measured.ts';

export interface HeldAnswer {
  readonly is: 'expected' | 'other' | 'undecided';
  /** One sentence. */
  readonly text: string;
}

export function holdAnswer(
  answer: Pick<MeasuredClass, 'mode' | 'modes'>,
  expected: readonly DiskMode[],
): HeldAnswer {
  const { mode, modes } = answer;
  const wanted = expected.join(' or ');
  const fitting = modes.filter((each) => expected.includes(each));
  if (modes.length === 0) {
    return { is: 'undecided', text: `expected ${wanted}; the trials are undecided` };
  }
  // One mode agrees, and yet acknowledged writes are lost: that is no kind of disk.
  if (fitting.length === 0 || (modes.length === 1 && mode === undefined)) {
    const lost = fitting.length === 0 ? '' : ', but acknowledged writes are not on the disk';
    return { is: 'other', text: `expected ${wanted}; the answer is ${answerWord(answer)}${lost}` };
  }
  if (fitting.length < modes.length) {
    return {
      is: 'undecided',
      text: `expected ${wanted}; the trials can't tell it from the rest of ${answerWord(answer)}. To accept each: --expect ${modes.join(',')}`,
    };
  }
  return { is: 'expected', text: `as expected: ${answerWord(answer)}` };
}
