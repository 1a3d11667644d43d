/**
 * Every page of every tablespace carries the checksum of its content. Stale pages do, too. A file that
 * the file system does not give up has no bad page: it is told as what it is.
 */
import {
  type Finding,
  type Checker,
  damage,
  corruptInSilence,
  troubleIn,
} from '../../judge/index.ts';
import { plural } from '../../core/index.ts';
import { ownEvidence } from '../evidence.ts';
import { mysqlLog } from '../log.ts';

/** What it says of a file of which it read nothing (innochecksum.cc, main and open_file). */
const saysUnread = /cannot be found|not able to read the minimum page size|unable to open/i;

export const innochecksum: Checker = {
  name: 'innochecksum',
  check({ image, evidence }) {
    const { innochecksum: answers = [] } = ownEvidence(evidence);
    const refused = answers.filter(
      ({ exitCode, output }) => exitCode !== 0 && troubleIn(output, mysqlLog) === undefined,
    );
    const { unread = [], bad = [] } = Object.groupBy(refused, ({ output }) =>
      saysUnread.test(output) ? 'unread' : 'bad',
    );
    const tell = (code: string, what: string, files: typeof refused): Finding[] => {
      if (files.length === 0) return [];
      const summary = `innochecksum ${what} ${plural(files.length, 'tablespace')}`;
      const said = files.map(({ command, output }) => `${command}: ${output}`);
      // Nobody runs it unasked; what mysqld says of such a file or page is a finding of its own.
      return [damage({ code, ...corruptInSilence, image, summary, evidence: said })];
    };
    return [
      ...tell('PAGE_CHECKSUM_BAD', 'finds bad pages in', bad),
      ...tell('FILE_UNREADABLE', 'can read nothing of', unread),
    ];
  },
};
