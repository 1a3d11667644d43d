/** Every remedy and its options, measured for docs/reference/remedies.md. */
import { measuredSuite } from './measured-suite.ts';
import { remediesPage } from './remedies-page.ts';
import { remedyCases } from './remedy-cases.ts';

await measuredSuite({ clusterName: 'remedies', cases: remedyCases, page: remediesPage });
