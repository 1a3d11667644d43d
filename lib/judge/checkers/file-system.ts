/** The file system: fsck by its exit code alone, and whether it can be mounted. */
import type { Finding } from '../verdict/verdict.ts';
import type { Checker } from './checker.ts';
import type { CommandEvidence } from '../../core/index.ts';
import { damage, incomplete, corruptAndTold } from './findings.ts';
import type { JudgedDatabase } from '../database.ts';
import { troubleIn } from './machine-trouble.ts';

/** Exit codes of e2fsck(8), bits: 4 errors left uncorrected; from 8 on it could not do its work. */
const uncorrected = 4;
const unable = 8;
/** Exit code of xfs_repair(8) with -n: there is corruption. */
const xfsCorrupt = 1;

const foundErrors = ({ command, exitCode }: CommandEvidence): boolean =>
  command.startsWith('xfs_repair') ? exitCode === xfsCorrupt : (exitCode & uncorrected) !== 0;

/** Each line of a tool's answer once: fsck repeats itself block by block. */
const told = ({ command, exitCode, output }: CommandEvidence): string =>
  `${command} ended with ${exitCode}: ${[...new Set(output.split('\n'))].join('\n')}`;

export const fileSystem = ({ log }: Pick<JudgedDatabase, 'log'>): Checker => ({
  name: 'file-system',
  check({ image, evidence }) {
    const { fsckReplay, fsck, mounted, mountError: said } = evidence;
    // A mount that failed for want of memory says nothing of the disk.
    const mountError = said === undefined || troubleIn(said, log) !== undefined ? undefined : said;
    const findings: Finding[] = [];
    const runs = [fsckReplay, fsck].filter((run) => run !== undefined);
    // Where fsck could not even begin, the mount tells whether that was the disk's fault.
    const isBad = (run: CommandEvidence): boolean =>
      foundErrors(run) || (run.exitCode >= unable && mountError !== undefined);
    const bad = runs.filter(isBad);
    const failed = runs.filter((run) => run.exitCode >= unable && !isBad(run));
    if (bad.length > 0) {
      const about = { code: 'FSCK_ERRORS', summary: 'the file system has errors' };
      findings.push(damage({ ...about, ...corruptAndTold, image, evidence: bad.map(told) }));
    }
    if (failed.length > 0) {
      const summary = `${image} image: fsck could not do its work`;
      findings.push(incomplete('FSCK_FAILED', summary, failed.map(told)));
    }
    if (!mounted && mountError !== undefined) {
      const about = { code: 'FILE_SYSTEM_UNMOUNTABLE', ...corruptAndTold, evidence: [mountError] };
      findings.push(damage({ ...about, image, summary: 'the file system cannot be mounted' }));
    }
    return findings;
  },
});
