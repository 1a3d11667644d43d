/** The table of docs/reference/workloads.md: what each workload did, measured. */
import { MeasuredPage } from './measured-page.ts';
import { workloadCases } from './workload-cases.ts';

export const workloadsPage = new MeasuredPage({ name: 'workloads', cases: workloadCases });
