// What the drivers share: the steps, and the settings, which the test passes in the environment.
//
// A driver calls each function of a library once or more. It prints a line of JSON for each call:
// {"step", "read"}, what the library returned of the answer, or {"step", "error"}. The exit status
// is 1 when a step failed.
import fs from "node:fs";

export const base = process.env.BASE_URL; // without a slash at its end
export const token = process.env.GRAPH_TOKEN;
export const line = process.env.PHONE_NUMBER_ID;
export const foreign = process.env.FOREIGN_LINE; // of another user
export const waba = process.env.WABA_ID;
export const received = process.env.RECEIVED_WAMID; // a message that a contact sent
export const catalog = "194836987003835";
export const flow = process.env.FLOW_ID;
export const to = "15551230001";
export const person = "US.13491208655302741918";
export const blocked = process.env.BLOCKED_PHONE; // a contact that the user blocked
export const limited = "15551239999"; // the platform answers 429 with Retry-After: 7
export const photo = fs.readFileSync(process.env.PHOTO);

export async function step(name, action) {
    let result;
    try {
        result = { step: name, read: await action() };
    } catch (error) {
        result = { step: name, error: `${error.name}: ${error.message} ${error.cause ?? ""}` };
        process.exitCode = 1;
    }
    process.stdout.write(JSON.stringify(result) + "\n");
    return result.read;
}

// Returns what READ makes of the error of a call; a call that does not fail is an error.
export async function failing(call, read) {
    let answer;
    try {
        answer = await call();
    } catch (error) {
        return read(error);
    }
    throw new Error(`no error, but ${JSON.stringify(answer)}`);
}

export function same(bytes, expected) {
    if (!Buffer.from(bytes).equals(expected)) {
        throw new Error(`${bytes.byteLength} other bytes than the ${expected.length} uploaded`);
    }
    return `the same ${expected.length} bytes`;
}
