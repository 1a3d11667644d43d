/**
 * What a kind of damage must be called. Kinds that leave the same traces share a class: then nobody
 * can tell them apart from the disk, and naming the class is naming the kind.
 */
import { mysql } from '../../lib/mysql/index.ts';
import type { Finding } from '../../lib/judge/index.ts';

export interface DamageClass {
  readonly name: string;
  /** Codes of findings that must all be there. Empty only where `oneOf` is not. */
  readonly all: readonly string[];
  /** At least one of each of these lists must be there, too. Default: none. */
  readonly oneOf?: readonly (readonly string[])[];
  /** Codes that such damage may show beside. Any other is a wrong name. Default: none. */
  readonly besides?: readonly string[];
}

/**
 * Further witnesses of the same rows: the binary log has what was committed, and documents what came
 * with it. What they say beside a name is not another one.
 */
const witnesses = [
  ...mysql.tools.secondWitnesses,
  ...['DOCUMENT_MISSING', 'DOCUMENT_PHANTOM', 'DELETE_HALF', 'DELETE_UNDONE'],
];

/** Damage, or a gap in the evidence: what keeps a run from being called safe. */
export const alarms = (findings: readonly Finding[]): string[] => [
  ...new Set(findings.filter(({ level }) => level !== 'note').map(({ code }) => code)),
];

export const isCaught = (findings: readonly Finding[]): boolean => alarms(findings).length > 0;

/** Everything that the class asks for was found, and nothing that it does not allow. */
export function isNamed(findings: readonly Finding[], damageClass: DamageClass): boolean {
  const found = alarms(findings);
  const { all, oneOf = [], besides = [] } = damageClass;
  const allowed = [...all, ...oneOf.flat(), ...besides, ...witnesses];
  return (
    all.every((code) => found.includes(code)) &&
    oneOf.every((codes) => codes.some((code) => found.includes(code))) &&
    found.every((code) => allowed.includes(code))
  );
}
