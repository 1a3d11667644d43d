/** What an audit reads that is the database's own: keys of the record beside those that all have. */
import { nothingOwn as nothing, type MysqlEvidence as BuiltIn } from '../mysql/evidence.ts';
import { brought } from './chosen.ts';

export interface OwnEvidence extends Partial<BuiltIn> {
  /** All of it, as JSON, where a caller of the library brought the database. */
  readonly own?: unknown;
}

/** Before anything was read. */
export const nothingOwn = (): OwnEvidence => (brought === undefined ? nothing : {});
