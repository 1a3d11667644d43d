/** Readers that answer for their client and see nothing, or the past: told by the acknowledgements. */
import { toldInSeconds } from '../../durations.ts';
import type { BlindRead, Patience } from '../../timeline/seen-by-readers.ts';
import type { Story } from '../../timeline/story.ts';
import { answerWithinMs, type ClientGap } from './client-gaps.ts';

/** Longer without an acknowledgement, beyond its pace: a client was not served all the time. */
const servedBreakMs = 10_000;

/** By client: how long it may be served and read nothing. */
export function blindAfter({ records }: Story): ReadonlyMap<string, Patience> {
  const plan = records.find((record) => record.type === 'workload');
  return new Map(
    (plan?.clients ?? []).flatMap(({ client, rate, readEveryMs }) => {
      if (readEveryMs === undefined) return [];
      const paceMs = rate === 'max' || rate === 0 ? 0 : 1000 / rate;
      const breakMs = paceMs + servedBreakMs;
      return [[client, { breakMs, blindMs: readEveryMs + breakMs + answerWithinMs }] as const];
    }),
  );
}

export function blindReads({ tells }: Story, blind: readonly BlindRead[]): ClientGap[] {
  if (!tells.plans) return [];
  return blind.map((each) => ({ client: each.client, reason: sentenceOf(each) }));
}

function sentenceOf({ client, what, count, atMs, node }: BlindRead): string {
  const reads = `${count} ${count === 1 ? 'read' : 'reads'} of the ${client} client on ${node}`;
  const since = `the first at ${toldInSeconds(atMs)}`;
  if (what === 'no-row')
    return `${reads} saw an empty ledger (${since}), which had commits by then`;
  if (what === 'older-row') {
    return `${reads} saw a row (${since}) that was not the newest of those acknowledged there`;
  }
  return `the ${client} client was served by ${node} from ${toldInSeconds(atMs)} on, and read nothing`;
}
