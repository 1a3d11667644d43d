/** The database that runs take, as a group of servers that replicate among themselves. */
export { MemberClient } from '../mysql/group/member-client.ts';
export { readLedger } from '../mysql/group/read-ledger.ts';
export {
  askHeads,
  askView,
  bootstrapGroup,
  groupTemplate,
  joinGroup,
  makeOrdinaryUser,
  ordinaryUser,
  prepareMember,
  viewOf,
} from '../mysql/group/statements.ts';
export { connectError } from '../mysql/errors.ts';
