/** Flags that make a run of minutes of one that waits a quarter of an hour: those of claims and of test:full. */
import { formatDuration } from '../lib/core/index.ts';
import { shortTimers } from '../lib/scenario/index.ts';

const { grace, toleration, forceDetachAfter } = shortTimers;

/** Each run takes about three minutes with these. `flags`: the run's own, which come behind them and win. */
export function shortFlagsBeside(flags: string): string {
  // A wait that is switched off has no length.
  const isOff = /--force-detach[ =]off\b/.test(flags);
  // Pods that are deleted one by one have no successor.
  const waitsForNobody = /--recreations[ =][1-9]/.test(flags);
  return [
    `--grace ${formatDuration(grace)} --toleration ${formatDuration(toleration)}`,
    ...(isOff ? [] : [`--force-detach-after ${formatDuration(forceDetachAfter)}`]),
    '--warmup 5s',
    ...(waitsForNobody ? [] : ['--overlap 10s --patience 40s']),
    '--horizon 150s',
  ].join(' ');
}
