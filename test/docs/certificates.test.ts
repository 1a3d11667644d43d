/** What `certificates/` says is what its raw records say, and the page says the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  driverFilePath,
  driverFileText,
  driverVersions,
  rebuilt,
} from '../../scripts/driver-files.ts';
import { certificates, path, renderedPage } from './certificates-page.ts';
import { root } from './pages.ts';

test.each(driverVersions(certificates).map(({ driver, version }) => [driver, version] as const))(
  '%s %s is what its records say: `npx node scripts/certificates.ts` writes it',
  (driver, version) => {
    const text = readFileSync(driverFilePath(certificates, driver, version), 'utf8');
    expect(text).toBe(driverFileText(rebuilt(certificates, driver, version)));
  },
);

test('docs/reference/certificates.md has every row', async () => {
  await expect(renderedPage()).toMatchFileSnapshot(join(root, path));
});
