/** The database under test: its settings, clients, log and audit. */
export { mysql } from './database.ts';
