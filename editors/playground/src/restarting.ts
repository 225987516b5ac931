// A language that is started again when it stops, with the same files.

import type { Method, Params, Result } from "./language";
import { type Language, Refusal, Stopped } from "./module";

export class Restarting {
  private readonly files = new Map<string, string>();
  /** The language, which all calls share that come while it is started. */
  private language: Promise<Language> | undefined;

  /** `restarted` is called after the language has stopped: its run is lost. */
  constructor(
    private readonly start: () => Promise<Language>,
    private readonly restarted: () => void,
  ) {}

  async call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    const current = (this.language ??= this.started());
    let language: Language;
    try {
      language = await current;
    } catch (error) {
      // The next call tries again.
      if (this.language === current) this.language = undefined;
      throw error;
    }
    this.remember(method, params);
    try {
      return language.call(method, params);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      console.error(error.message);
      if (this.language === current) {
        this.language = undefined;
        this.restarted();
      }
      throw new Refusal("the language module has stopped unexpectedly; it was started again");
    }
  }

  private remember<M extends Method>(method: M, params: Params<M>): void {
    if (method === "setFile") {
      const { name, text } = params as Params<"setFile">;
      this.files.set(name, text);
    } else if (method === "removeFile") {
      this.files.delete((params as Params<"removeFile">).name);
    }
  }

  private async started(): Promise<Language> {
    const language = await this.start();
    for (const [name, text] of this.files) {
      try {
        language.call("setFile", { name, text });
      } catch (error) {
        // A file that stops the module must not keep the others away from it.
        if (!(error instanceof Stopped)) continue;
        console.error(error.message);
        this.files.delete(name);
        return this.started();
      }
    }
    return language;
  }
}
