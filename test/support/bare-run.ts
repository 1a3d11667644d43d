/** Stands for the run where images are judged that no run took: bare disks, mutants, examples. */
import { mysql } from '../../lib/mysql/database.ts';
import type { AuditedRun } from '../../lib/judge/checkers/index.ts';

/**
 * Of version 1: parts of the audit and of the workload that came later are not asked for. Its server
 * promises every commit, whatever it was set to: who breaks that is to be found.
 */
export const bareRun = (seed: string): AuditedRun => ({
  type: 'run',
  schemaVersion: 1,
  seed,
  scenario: { database: mysql.leastAsked },
});
