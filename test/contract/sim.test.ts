/** The model keeps the port's contract. */
import { simBackend } from '../../lib/sim/backend.ts';
import { describeTestbed } from './testbed-contract.ts';

describeTestbed('the model', simBackend, 60_000);
