/** A disk formatted anew or a data directory initialised anew: empty databases that are Ready. */
import type { Finding } from '../verdict/verdict.ts';
import type { Checker } from './checker.ts';
import { damage } from './findings.ts';

export const replaced: Checker = {
  name: 'replaced',
  check({ image, evidence, before }) {
    const replaced = (code: string, summary: string, evidence: string): Finding =>
      damage({ code, image, safety: 'corrupt', loud: false, summary, evidence: [evidence] });
    const changed = (was: string | undefined, is: string | undefined): boolean =>
      was !== undefined && is !== undefined && was !== is;
    const findings: Finding[] = [];
    const { filesystemUuid, serverUuid } = evidence;
    const was = before?.evidence;
    if (changed(was?.filesystemUuid, filesystemUuid)) {
      const uuids = `file system ${was?.filesystemUuid} became ${filesystemUuid}`;
      findings.push(replaced('REFORMATTED', 'the volume was formatted anew', uuids));
    }
    if (changed(was?.serverUuid, serverUuid)) {
      const uuids = `server_uuid ${was?.serverUuid} became ${serverUuid}`;
      findings.push(replaced('REINITIALISED', 'the database was initialised anew', uuids));
    }
    if (evidence.dataDirectoryEmpty) {
      const summary = 'the data directory is empty: the next start makes an empty database';
      findings.push(replaced('DATA_DIRECTORY_EMPTY', summary, 'no file but what mkfs makes'));
    }
    return findings;
  },
};
