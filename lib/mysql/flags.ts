/** MySQL's own fields of a scenario, as flags. */
import { InvalidArgumentError, Option } from 'commander';
import type { DatabaseChoice } from '../database/fields.ts';

export const mysqlOptions = (base: DatabaseChoice): Option[] => [
  new Option('--trx-commit <n>', 'innodb_flush_log_at_trx_commit: 0, 1 or 2')
    .argParser(trxCommit)
    .default(base.trxCommit),
  new Option('--binlog <state>', 'the server’s binary log')
    .choices(['on', 'off'])
    .default(base.binlog),
];

function trxCommit(text: string): DatabaseChoice['trxCommit'] {
  if (text === '0' || text === '1' || text === '2') return Number(text) as 0 | 1 | 2;
  throw new InvalidArgumentError('Allowed choices are 0, 1, 2.');
}
