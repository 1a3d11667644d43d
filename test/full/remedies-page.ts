/** The table of docs/reference/remedies.md: what each remedy did, measured. */
import { MeasuredPage } from './measured-page.ts';
import { remedyCases } from './remedy-cases.ts';

export const remediesPage = new MeasuredPage({ name: 'remedies', cases: remedyCases });
