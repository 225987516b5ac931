// The examples, which are those of the repository.

import codeReview from "../../../examples/code-review.prose";
import essay from "../../../examples/essay.prose";
import hello from "../../../examples/hello.prose";
import incident from "../../../examples/incident.prose";
import factCheck from "../../../examples/library/fact-check.prose";
import newsletter from "../../../examples/newsletter.prose";
import { DELAY, type File, MAIN, type Program } from "./program";

export interface Example {
  title: string;
  program: Program;
}

function example(title: string, text: string, ...others: File[]): Example {
  return { title, program: { files: [{ name: MAIN, text }, ...others], harness: "offline", seed: 0, delay: DELAY } };
}

export const EXAMPLES: Record<string, Example> = {
  hello: example("Hello", hello),
  essay: example("Essay", essay, { name: "library/fact-check.prose", text: factCheck }),
  "code-review": example("Code review", codeReview),
  newsletter: example("Newsletter", newsletter),
  incident: example("Incident", incident),
};

/** What the playground shows when it is opened for the first time. */
export const FIRST = hello;

/** The script that one starts from. */
export const FIRST_SCRIPT = `# Replies for the sessions of the program. The first entry that matches a session is its reply.
#
# [[session]]
# label = "Write a greeting"      # the first line of the task
# reply = "Welcome."
#
# [[condition]]
# label = "the draft is good"
# met = true

# What no entry matches gets a generated reply; without this line, the run fails there.
unmatched = "offline"
`;
