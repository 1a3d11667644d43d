/** How a certificate of the probe goes to its file, and what is printed of it. */
import { resolve } from 'node:path';
import { writeOutput } from '../../output-file.ts';
import { say, tell } from '../command.ts';
import type { ProbeFlags } from '../flags/probe-flags.ts';

/** `name`: of the file here, where no other one was asked for. */
export function writeCertificate<Certificate extends object>(
  { out, output }: Pick<ProbeFlags, 'out' | 'output'>,
  name: string,
  certificate: Certificate,
  textOf: (certificate: Certificate) => string,
): void {
  const path = resolve(out ?? name);
  const text = JSON.stringify(certificate);
  writeOutput(path, `${text}\n`);
  tell(output === 'json' ? text : textOf(certificate));
  say(`certificate: ${path}`);
}
