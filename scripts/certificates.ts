/**
 * `npx node scripts/certificates.ts add FILE VERSION`: puts a certificate that the probe wrote into
 * `certificates/`, under its driver and the version that you say. Without arguments: makes all of
 * `certificates/DRIVER/VERSION.json` again from what lies beside them.
 */
import { readFileSync } from 'node:fs';
import { describeError, exitCode } from '../lib/core/errors.ts';
import { writeOutput } from '../lib/core/files.ts';
import {
  addCertificate,
  driverFilePath,
  driverFileText,
  driverVersions,
  rebuilt,
} from './driver-files.ts';

const root = 'certificates';
const [, , verb, file = '', version = ''] = process.argv;

function rebuildAll(): void {
  for (const { driver, version } of driverVersions(root)) {
    const text = driverFileText(rebuilt(root, driver, version));
    writeOutput(driverFilePath(root, driver, version), text);
  }
}

try {
  if (verb === undefined) rebuildAll();
  else if (verb === 'add') console.log(addCertificate(root, readFileSync(file, 'utf8'), version));
  else {
    console.error('npx node scripts/certificates.ts [add FILE VERSION]');
    process.exitCode = exitCode.usage;
  }
} catch (error) {
  console.error(describeError(error));
  process.exitCode = exitCode.usage;
}
