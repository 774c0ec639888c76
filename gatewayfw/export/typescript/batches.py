"""The parts of ``gateway.ts`` of a gateway that takes batches."""

from __future__ import annotations

#: What a gateway that takes batches has besides, by the comment that it replaces.
BATCH = {
    "/* batch: method */": """
  /**
   * Run several acts by one request; return the reply to each, in order. With `atomic` all of them are done or none.
   * It throws a GatewayError only where the gateway refuses all of them.
   */
  batch<const R extends readonly Ask<unknown>[]>(
    requests: R,
    options?: CallOptions & { atomic?: boolean | undefined },
  ): Promise<Items<R>>;
""",
    "/* batch: success */": " || (body.batch && Array.isArray(envelope?.body))",
    "/* batch: code */": """\
    async batch(batch: any, { atomic = false, ...options }: any = {}): Promise<any> {
      const files: Files = [];
      for (const { details } of batch) withoutFiles(details.set, "set", files);
      if (files.length) throw new TypeError("a batch carries no files");
      const reply = await post({ batch, atomic }, options);
      if (reply instanceof GatewayError) throw reply;
      if (reply.body?.length !== batch.length)
        throw failed(200, { message: "the reply is not that to the batch", code: "no_envelope" });
      return reply.body.map(({ code, ...item }: any) => {
        const body = { message: "refused", code, ...item.body };
        return item.success ? item : { ...item, body: failed(item.status, body).reply.body };
      });
    },
""",
}

#: The functions and types of batches.
ASK = """\
/** Most requests of a `batch`. */
export const maxBatch = $MOST;

/** A request for `batch` whose act returns `B`; see `ask`. */
export interface Ask<B> { service: string | undefined; model: string; act: string; details: object; readonly $body?: B }
/** A reply to one request of a `batch`; `retryAfter` are seconds. */
export type Item<B> = { success: true; status: number; body: B } | (Failure & { retryAfter?: number });
/** The replies to the requests of a `batch`, in order. */
export type Items<R> = { -readonly [K in keyof R]: R[K] extends Ask<infer B> ? Item<B> : never };

/** Return a request for `batch`; the arguments are those of `call`. */
export function ask<
  S extends Service = "main",
  M extends ModelOf<S> = ModelOf<S>,
  A extends ActOf<S, M> = ActOf<S, M>,
  const G extends GetOf<S, M, A> = GetOf<S, M, A>,
>(
  model: M,
  act: A,
  details: Details<Entry<S, M, A>, G>,
  options: { service?: S | undefined } = {},
): Ask<BodyOf<S, M, A, G>> {
  const { set = {}, get } = details as any;
  return { service: options.service, model, act, details: { set, get } };
}
"""
