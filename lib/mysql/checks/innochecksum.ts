/** Every page of every tablespace carries the checksum of its content. Stale pages do, too. */
import type { Checker } from '../../checkers/checker.ts';
import { damage } from '../../checkers/findings.ts';
import { plural } from '../../counts.ts';
import { troubleIn } from '../../checkers/machine-trouble.ts';

export const innochecksum: Checker = {
  name: 'innochecksum',
  check({ image, evidence }) {
    const bad = evidence.innochecksum.filter(
      ({ exitCode, output }) => exitCode !== 0 && troubleIn(output) === undefined,
    );
    if (bad.length === 0) return [];
    return [
      damage({
        code: 'PAGE_CHECKSUM_BAD',
        image,
        safety: 'corrupt',
        // Nobody runs it unasked; what mysqld says of such a page is a finding of its own.
        loud: false,
        summary: `innochecksum finds bad pages in ${plural(bad.length, 'tablespace')}`,
        evidence: bad.map(({ command, output }) => `${command}: ${output}`),
      }),
    ];
  },
};
