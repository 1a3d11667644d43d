/** The database's own fields of a scenario, as flags. */
export { mysqlOptions as databaseOptions } from '../mysql/flags.ts';
