/** CHECK TABLE says OK, and CHECKSUM TABLE the same from cold and after a clean restart. */
import type { Finding } from '../../experiment/verdict/verdict.ts';
import type { Checker } from '../../checkers/checker.ts';
import { damage } from '../../checkers/findings.ts';
import { troubleIn } from '../../checkers/machine-trouble.ts';

export const tableChecks: Checker = {
  name: 'table-checks',
  check({ image, evidence: { tables = [] } }) {
    const findings: Finding[] = [];
    for (const { table, check, checksum, checksumAfterRestart } of tables) {
      if (check !== undefined && check !== 'OK' && troubleIn(check) === undefined) {
        findings.push(
          damage({
            code: 'CHECK_TABLE_FAILED',
            image,
            safety: 'corrupt',
            loud: true,
            summary: `CHECK TABLE finds fault with ${table}`,
            evidence: [check],
          }),
        );
      }
      const unreadable = checksum === 'NULL' || checksumAfterRestart === 'NULL';
      const changed = checksumAfterRestart !== undefined && checksumAfterRestart !== checksum;
      if (!unreadable && !changed) continue;
      findings.push(
        damage({
          code: unreadable ? 'CHECKSUM_TABLE_FAILED' : 'CHECKSUM_CHANGED',
          image,
          safety: 'corrupt',
          loud: unreadable,
          summary: unreadable
            ? `CHECKSUM TABLE cannot read ${table}`
            : `a clean restart changed the content of ${table}`,
          evidence: [`from cold ${checksum}, after a clean restart ${checksumAfterRestart}`],
        }),
      );
    }
    return findings;
  },
};
