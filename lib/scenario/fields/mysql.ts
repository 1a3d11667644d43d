/** What a scenario may say of MySQL's durability. */
import { z } from 'zod';
import { choice, field } from './field.ts';
import { oneOf } from './swept.ts';
import { textOf } from './texts.ts';

const levels = z.union([z.literal(0), z.literal(1), z.literal(2)]);

export const mysqlFields = {
  trxCommit: field('database.trxCommit', levels.default(1), {
    about: 'innodb_flush_log_at_trx_commit: 0, 1 or 2',
    text: textOf(
      (text) => (/^[012]$/.test(text) ? levels.parse(Number(text)) : undefined),
      'Allowed choices are 0, 1, 2.',
    ),
    swept: { share: 0.15, draw: oneOf([0, 2]) },
  }),
  binlog: choice('database.binlog', ['on', 'off'], 'on', {
    about: 'the binary log; the default is on, synced at each commit',
  }),
};
