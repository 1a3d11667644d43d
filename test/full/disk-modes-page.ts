/** The table of docs/reference/disk-modes.md: what each mode of disk did, measured. */
import { diskModeCases } from './disk-mode-cases.ts';
import { MeasuredPage } from './measured-page.ts';

export const diskModesPage = new MeasuredPage({ name: 'disk-modes', cases: diskModeCases });
