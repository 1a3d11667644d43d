/** What the readers' answers say of a server: one that forgets what it has shown is broken. */
import { plural } from '../../counts.ts';
import type { ReadMeter } from '../../timeline/read-heads.ts';
import type { Story } from '../../timeline/story.ts';
import type { Finding } from './verdict.ts';

/** Nothing is ever deleted, so a row that was shown and then was not is a commit that went away. */
export const readFindings = ({ faultAtMs = 0 }: Story, reads: ReadMeter): Finding[] =>
  reads.wentBack().map(({ client, node, count, atMs, saw, before }) => {
    const after = `${((atMs - faultAtMs) / 1000).toFixed(1)} s after the fault`;
    return {
      code: 'READS_WENT_BACK',
      level: 'damage',
      safety: 'lost',
      loud: false,
      summary: `one server on ${node} answered ${plural(count, 'read')} of the ${client} client with less than before`,
      evidence: [`first ${after}: ${saw}, where ${before} had been the newest row`],
    };
  });
