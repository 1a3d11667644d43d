/** Whether a measuring test may change what git holds: `FORCEDETACH_NOTE=1`, else it only holds. */
export const isNoting = process.env['FORCEDETACH_NOTE'] === '1';
