/** CHECK TABLE says OK, and CHECKSUM TABLE the same from cold and after a clean restart. */
import {
  type Finding,
  type Checker,
  damage,
  corruptAndTold,
  corruptInSilence,
  troubleIn,
} from '../../judge/index.ts';
import { ownEvidence } from '../evidence.ts';
import { mysqlLog } from '../log.ts';

export const tableChecks: Checker = {
  name: 'table-checks',
  check({ image, evidence }) {
    const { tables = [] } = ownEvidence(evidence);
    const findings: Finding[] = [];
    for (const { table, check, checksum, checksumAfterRestart } of tables) {
      if (check !== undefined && check !== 'OK' && troubleIn(check, mysqlLog) === undefined) {
        const summary = `CHECK TABLE finds fault with ${table}`;
        const about = { code: 'CHECK_TABLE_FAILED', ...corruptAndTold, image };
        findings.push(damage({ ...about, summary, evidence: [check] }));
      }
      const unreadable = checksum === 'NULL' || checksumAfterRestart === 'NULL';
      const changed = checksumAfterRestart !== undefined && checksumAfterRestart !== checksum;
      if (!unreadable && !changed) continue;
      const evidence = [`from cold ${checksum}, after a clean restart ${checksumAfterRestart}`];
      const [code, how, summary] = unreadable
        ? ['CHECKSUM_TABLE_FAILED', corruptAndTold, `CHECKSUM TABLE cannot read ${table}`]
        : ['CHECKSUM_CHANGED', corruptInSilence, `a clean restart changed the content of ${table}`];
      findings.push(damage({ code, ...how, image, summary, evidence }));
    }
    return findings;
  },
};
