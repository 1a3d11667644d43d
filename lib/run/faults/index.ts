/** The fault of a scenario, with what comes beside it and before it. */
import { type Scenario, faultNamed } from '../../scenario/index.ts';
import { askedAgain } from './asked-again.ts';
import { faultOf } from './declared.ts';
import type { Fault } from './fault.ts';
import { withSecond } from './second.ts';
import { withServerKills } from './server-kills.ts';

/** `own`: a caller's, in place of the scenario's first. */
export function wholeFaultOf({ fault, also, serverKills }: Scenario, own?: Fault): Fault {
  const first = askedAgain(own ?? faultOf(faultNamed(fault)));
  const whole = also === 'none' ? first : withSecond(first, askedAgain(faultOf(faultNamed(also))));
  return serverKills === 0 ? whole : withServerKills(whole);
}
