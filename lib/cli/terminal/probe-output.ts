/** How a certificate of the probe goes to its files, and what is printed of it. */
import { resolve } from 'node:path';
import { writeOutput } from '../../output-file.ts';
import { say, tell } from '../command.ts';
import type { ProbeFlags } from '../flags/probe-flags.ts';

/** One certificate in each form that can be asked for. */
export interface Forms<Certificate> {
  readonly text: (certificate: Certificate) => string;
  readonly html: (certificate: Certificate) => Promise<string>;
  readonly junit: (certificate: Certificate) => Promise<string>;
}

/** `name`: of the file here, where no other one was asked for. */
export async function writeCertificate<Certificate extends object>(
  { out, output, html, junit }: Pick<ProbeFlags, 'out' | 'output' | 'html' | 'junit'>,
  name: string,
  certificate: Certificate,
  forms: Forms<Certificate>,
): Promise<void> {
  const path = resolve(out ?? name);
  const text = JSON.stringify(certificate);
  writeOutput(path, `${text}\n`);
  if (html !== undefined) writeOutput(html, await forms.html(certificate));
  if (junit !== undefined) writeOutput(junit, await forms.junit(certificate));
  tell(output === 'json' ? text : forms.text(certificate));
  say(`certificate: ${path}`);
}
