/**
 * The database's own checks of what an audit read. Apart from chosen.ts, which they use: so nothing
 * comes round to itself.
 */
export { ownAnswers, ownChecks, ownGaps } from '../mysql/checks/index.ts';
