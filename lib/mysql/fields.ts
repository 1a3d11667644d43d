/** What a scenario may say of MySQL's durability. */
import { z } from 'zod';

export const mysqlFields = {
  /** innodb_flush_log_at_trx_commit. 1 is stock. */
  trxCommit: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(1),
  /** The server's binary log; on and synced at each commit is stock. */
  binlog: z.enum(['on', 'off']).default('on'),
};
