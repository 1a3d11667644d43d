/** Workloads, self-fencing and further moves, measured for docs/reference/workloads.md. */
import { measuredSuite } from './measured-suite.ts';
import { workloadCases } from './workload-cases.ts';
import { workloadsPage } from './workloads-page.ts';

await measuredSuite({ clusterName: 'workloads', cases: workloadCases, page: workloadsPage });
