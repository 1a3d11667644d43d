/** What an audit reads that is the database's own: keys of the record beside those that all have. */
export { nothingOwn, type MysqlEvidence as OwnEvidence } from '../mysql/evidence.ts';
export { modelledEvidence } from '../mysql/modelled.ts';
