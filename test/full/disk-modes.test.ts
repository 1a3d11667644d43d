/**
 * Every mode of disk, link, access mode, file system and loss of power, measured for
 * docs/reference/disk-modes.md.
 */
import { expect } from 'vitest';
import { diskModeCases } from './disk-mode-cases.ts';
import { diskModesPage } from './disk-modes-page.ts';
import { measuredSuite } from './measured-suite.ts';

await measuredSuite({
  clusterName: 'modes',
  cases: diskModeCases,
  page: diskModesPage,
  alsoExpect: ({ name }, { findings, exposure }) => {
    if (name === 'pending-while-busy') {
      expect(findings.map(({ code }) => code)).toContain('CALLS_REFUSED');
    }
    if (name === 'shared-file') expect(exposure.ms).toBe(0);
  },
});
