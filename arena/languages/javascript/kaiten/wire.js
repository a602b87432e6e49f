/** The protocol's messages, read from referee.proto, which is a copy of the arena's file. */

import { readFileSync } from "node:fs";

import protobuf from "protobufjs";

const PACKAGE = "arena.wire.v1";
const { root } = protobuf.parse(readFileSync(new URL("referee.proto", import.meta.url), "utf8"));
const botMessage = root.lookupType(`${PACKAGE}.BotMessage`);
const refereeMessage = root.lookupType(`${PACKAGE}.RefereeMessage`);
const faultKind = root.lookupEnum(`${PACKAGE}.FaultKind`);

/** The path of the gRPC method. */
export const PLAY = `/${PACKAGE}.Referee/Play`;

/**
 * @param {object} message A BotMessage.
 * @returns {Buffer}
 */
export function encode(message) {
  return Buffer.from(botMessage.encode(message).finish());
}

/**
 * @param {Buffer} bytes
 * @returns {object} A RefereeMessage. Each event's property `event` names its kind.
 */
export function decode(bytes) {
  return refereeMessage.decode(bytes);
}

/**
 * @param {number} number A FaultKind.
 * @returns {string} The fault's name; "fault" if unknown.
 */
export function faultName(number) {
  return faultKind.valuesById[number]?.replace("FAULT_KIND_", "").toLowerCase() ?? "fault";
}
