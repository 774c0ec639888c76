export type Service = keyof Services & string;
export type Model = keyof Models & string;
export type ModelOf<S extends Service = "main"> = keyof Services[S] & string;
export type ActOf<S extends Service, M extends ModelOf<S>> = keyof Services[S][M] & string;

/** The pure fields of a model; those it has optionally may be absent. */
export type Fields<M extends Model> = Models[M] extends { fields: infer F } ? F : never;
/** The relations of a model and the reverse relations on it. */
export type Links<M extends Model> = Models[M] extends { links: infer L } ? L : never;

/** What `get` may say of the model `M`: fields take 1 or 0; links, `D` levels down, take 1, 0 or an object. */
export type Get<M extends Model, D extends number = 1, H = never> = { [K in keyof Whole<M, H>]?: Flag | Inherited<K> } &
  ([D] extends [0] ? unknown : { [K in keyof Links<M>]?: Flag | GetBelow<Links<M>[K], Below[D], H> | Inherited<K> });

/** At the top, `get` may also ask for the revision, which counts the changes of the document. */
export interface Revised { _rev?: Flag }

/** What is shown of a document of the model `M` when `get` is `G`. */
export type Result<M extends Model, G> = Flat<OwnId<G> & OwnRevision<G> & Part<M, G, never>>;

/** What an act takes as `set`. */
export type SetOf<S extends Service, M extends ModelOf<S>, A extends ActOf<S, M>> = NonNullable<Entry<S, M, A>["set"]>;
/** What an act takes as `get`. */
export type GetOf<S extends Service, M extends ModelOf<S>, A extends ActOf<S, M>> = Entry<S, M, A>["get"];
/** What an act returns when `get` is `G`. */
export type BodyOf<S extends Service, M extends ModelOf<S>, A extends ActOf<S, M>, G> = Body<Entry<S, M, A>["body"], G>;

/** The acts that answer by page: `set` takes `after`, the result has `rows` and `next`. */
export type PagedActOf<S extends Service, M extends ModelOf<S>> = ActOf<S, M> &
  { [A in ActOf<S, M>]: IsPaged<Entry<S, M, A>> extends true ? A : never }[ActOf<S, M>];

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
/** The `_id` of a document: 24 hexadecimal digits. */
export type ObjectId = string;
/** A date in ISO 8601; in replies with milliseconds and Z. */
export type IsoDate = string;
/** A file to send: a Blob, or a File, which has a name. */
export interface Upload { readonly size: number; readonly type: string; arrayBuffer(): Promise<ArrayBuffer> }

export type Flag = 0 | 1;
/** What every object has under a name such as `constructor`: to TypeScript it is there, also where nobody gives it. */
type Inherited<K> = K extends keyof Object ? Object[K] : never;
export type Nothing = { [key: string]: never };
export type AnyObject = { [key: string]: unknown };
/** A link to one document of the model `M`; no copy shows the fields `X`, nor does what is below it. */
export interface One<M extends string, X extends string = never> { model: M; many: false; hides: X }
/** A link to a list of documents, empty where there are none. */
export interface Many<M extends string, X extends string = never> { model: M; many: true; hides: X }
/** A document of the model `M` in the shape that `get` asks for, or the part of it at the path `P`. */
export interface Doc<M extends string, P extends readonly string[] = []> { readonly $doc: M; readonly $at: P }
/** An object: what it has in any case, and what only where `get` names it. */
export interface Parts<Always, Asked> { readonly $always: Always; readonly $asked: Asked }
/** A service elsewhere: its acts are not known here. */
export interface Remote {
  [model: string]: { [act: string]: { set: unknown; get: unknown; body: unknown; idempotent: true } };
}

interface AnyAct { set?: unknown; get: unknown; body: unknown; idempotent?: true }
type Repeated<E extends AnyAct> = E extends { idempotent: true } ? RepeatOptions : unknown;
type Entry<S extends Service, M extends ModelOf<S>, A extends ActOf<S, M>> =
  Services[S][M][A] extends infer E extends AnyAct ? E : never;
type Details<E extends AnyAct, G> = Pick<E, "set"> & { get: G & NoInfer<Exact<G, E["get"]>> };

interface AnyPage { rows: readonly unknown[]; next: string | null }
type IsPaged<E extends AnyAct> = NonNullable<E["set"]> extends infer S
  ? "after" extends keyof S
    ? {} extends Pick<S, "after">
      ? [string, Always<E["body"]>] extends [S["after"], AnyPage] ? true : false
      : false
    : false
  : false;
type Always<B> = B extends Parts<infer A, infer _> ? A : B;

/** `G`, with every key that `S` does not have as an error. */
type Exact<G, S> = unknown extends S ? G : string extends keyof S ? G : {
  [K in keyof G]: K extends keyof S ? ExactValue<G[K], Extract<Exclude<S[K], Inherited<K>>, object>> : never;
};
type ExactValue<V, S> = V extends readonly unknown[] ? V : V extends object ? Exact<V, S> : V;

type Flat<T> = { [K in keyof T]: T[K] } & {};
type Shown<M extends string, K, H> = `${M}.${K & string}` extends H ? never : K;
type GetBelow<L, D extends number, H> =
  L extends { model: infer N extends Model; hides: infer X } ? Get<N, D, H | X> : never;

/** The keys that `G` surely asks for, and those of which only the program that runs can tell. */
type Sure<G> = keyof { [K in keyof G as [G[K]] extends [1 | object] ? K : never]: 1 };
type Maybe<G> = Exclude<
  keyof { [K in keyof G as [Extract<G[K], 1 | object>] extends [never] ? never : K]: 1 },
  Sure<G>
>;
/** The `_id` of a document that is shown unless `G` says 0. */
type OwnId<G> = "_id" extends keyof G
  ? [G["_id"]] extends [0] ? unknown : 0 extends G["_id"] ? { _id?: ObjectId } : { _id: ObjectId }
  : { _id: ObjectId };
type OwnRevision<G> = "_rev" extends keyof G
  ? [G["_rev"]] extends [1] ? { _rev: number } : 1 extends G["_rev"] ? { _rev?: number } : unknown
  : unknown;
/** The `_id` of a copy, which is shown in place of nothing. */
type CopyId<G> = [Sure<G>] extends [never] ? ([Maybe<G>] extends [never] ? OwnId<G> : Partial<OwnId<G>>) : unknown;

/** What `G` names of the model `M`; `H` is what the links above hide. */
type Part<M extends Model, G, H> = Named<M, G, H, Sure<G>> &
  ([Maybe<G>] extends [never] ? unknown : Partial<Named<M, G, H, Maybe<G>>>);
type Named<M extends Model, G, H, N> = Open<M, Pick<Fields<M>, N & keyof Fields<M>>, H> &
  Through<Pick<Links<M>, N & keyof Links<M>>, G, H>;
type Through<L, G, H> = { [K in keyof L]: K extends keyof G ? Linked<L[K], G[K], H> : never };
type Linked<L, V, H> = L extends { model: infer N extends Model; many: infer B; hides: infer X }
  ? B extends true ? Copy<N, V, H | X>[] : Copy<N, V, H | X>
  : never;
type Copy<M extends Model, V, H> =
  V extends 1 ? Whole<M, H> : V extends object ? Flat<CopyId<V> & Part<M, V, H>> : never;
type Whole<M extends Model, H> = Open<M, Fields<M>, H>;
/** `F`, fields of `M`, without those that `H` hides. */
type Open<M extends Model, F, H> = [H] extends [never] ? F : { [K in keyof F as Shown<M, K, H>]: F[K] };

type Body<B, G> = B extends Doc<infer M extends Model, infer P> ? Asked<M, At<G, P>>
  : B extends Doc<infer M extends Model, infer P>[] ? Asked<M, At<G, P>>[]
  : B extends Parts<infer A, infer C>
    ? Flat<{ [K in keyof A]: Body<A[K], G> } & Picked<C, G, Sure<G>> & Partial<Picked<C, G, Maybe<G>>>>
  : B;
type Asked<M extends Model, G> = G extends object ? Result<M, G> : never;
type At<G, P> = P extends [infer K, ...infer R] ? (K extends keyof G ? At<G[K], R> : never) : G;
type Picked<C, G, N> = { [K in keyof C as K extends N ? K : never]: Body<C[K], G> };
/** One level less. */
type Below = [/* levels below */];

/** Why a value was refused: a code, and the bounds of its field. The list is closed. */
export type ErrorDetail = /* details */;
export type ErrorCode = ErrorDetail["code"];
/** Why a call failed, in the words of the gateway; an act may have others. */
export type GatewayCode = /* codes */;
/** Why a call failed, in the words of this client. */
export type ClientCode = "no_envelope" | "no_progress" | "no_reply" | "refused";
/** The text keeps editors completing the codes; `code as GatewayCode | ClientCode` leaves it out for a `switch`. */
export type FailureCode = GatewayCode | ClientCode | (string & {});
/**
 * Why a request failed: `message` and `errors`, texts by the path of the value, are for people, `code` and `details`,
 * which has a code for each text, are for programs.
 */
export interface Refusal {
  message: string;
  code: FailureCode;
  errors?: { [path: string]: string[] };
  details?: { [path: string]: ErrorDetail[] };
  requestId?: string;
}
/** `status` is the one of HTTP; 0 where no reply came, with the code `no_reply`. */
export interface Failure { success: false; status: number; body: Refusal }
/** Headers of a reply; `Idempotent-Replay` is 1 where it was given before. */
export interface ReplyHeaders { get(name: string): string | null }
export type Reply<B> = { success: true; status: number; headers: ReplyHeaders; body: B } | Failure;

/** What `call` throws; its `cause` is the error that kept a reply from coming, or from being understood. */
export class GatewayError extends Error {
  readonly reply: Failure;
  readonly status: number;
  readonly code: FailureCode;
  readonly errors: { [path: string]: string[] };
  readonly details: { [path: string]: ErrorDetail[] };
  readonly requestId: string | undefined;

  constructor(reply: Failure, cause?: unknown) {
    super(reply.body.message);
    this.name = "GatewayError";
    this.reply = reply;
    this.status = reply.status;
    this.code = reply.body.code;
    this.errors = reply.body.errors ?? {};
    this.details = reply.body.details ?? {};
    this.requestId = reply.body.requestId;
    if (cause !== undefined) Object.assign(this, { cause });
  }
}

type Headers = { [name: string]: string };
type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } } ? T : any;
type Fetch = (
  url: string,
  init: { method: string; headers: Headers; body: any; signal?: Signal },
) => Promise<{ status: number; headers?: ReplyHeaders; text(): Promise<string> }>;

export interface ClientOptions {
  /** Where the gateway is, with or without `/gateway` at its end. */
  url: string;
  token?: string | null | undefined;
  headers?: Headers | undefined;
  /** In place of the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Gets every failure before it is thrown or returned. */
  onError?: ((error: GatewayError) => void) | undefined;
}

export interface CallOptions {
  headers?: Headers | undefined;
  signal?: Signal | undefined;
}

/** Options of idempotent acts. */
export interface RepeatOptions {
  /** How often the request is sent again, with the same key, where no reply came or the gateway is busy. */
  retries?: number | undefined;
  /** The `Idempotency-Key`; without one each call with `retries` makes its own. */
  key?: string | undefined;
}

export interface Client {
  /** Sent with each request; set it after a login. */
  token: string | null | undefined;
  /** Sent with each request. */
  headers: Headers;

  /** Run an act and return what it returns; throw a GatewayError where it fails. */
  call<
    S extends Service = "main",
    M extends ModelOf<S> = ModelOf<S>,
    A extends ActOf<S, M> = ActOf<S, M>,
    const G extends GetOf<S, M, A> = GetOf<S, M, A>,
  >(
    model: M,
    act: A,
    details: Details<Entry<S, M, A>, G>,
    options?: CallOptions & { service?: S | undefined } & Repeated<Entry<S, M, A>>,
  ): Promise<BodyOf<S, M, A, G>>;

  /**
   * Read a list page by page, from the first one or the one that `set.after` names:
   * `for await (const page of client.pages(...))`. It throws a GatewayError where a page fails, and where
   * a list does not go on (`no_progress`).
   */
  pages<
    S extends Service = "main",
    M extends ModelOf<S> = ModelOf<S>,
    A extends PagedActOf<S, M> = PagedActOf<S, M>,
    const G extends GetOf<S, M, A> = GetOf<S, M, A>,
  >(
    model: M,
    act: A,
    details: Details<Entry<S, M, A>, G>,
    options?: CallOptions & { service?: S | undefined },
  ): AsyncIterable<BodyOf<S, M, A, G>>;

  /** Send a request and return the reply, whose `success` tells how it went; never throw. */
  send<
    S extends Service = "main",
    M extends ModelOf<S> = ModelOf<S>,
    A extends ActOf<S, M> = ActOf<S, M>,
    const G extends GetOf<S, M, A> = GetOf<S, M, A>,
  >(
    request: { service?: S | undefined; model: M; act: A; details: Details<Entry<S, M, A>, G> },
    options?: CallOptions & Repeated<Entry<S, M, A>>,
  ): Promise<Reply<BodyOf<S, M, A, G>>>;
/* batch */

  /**
   * Run several acts by one request; return the reply to each, in order. With `atomic` all of them are done or none.
   * It throws a GatewayError only where the gateway refuses all of them.
   */
  batch<const R extends readonly Ask<unknown>[]>(
    requests: R,
    options?: CallOptions & { atomic?: boolean | undefined },
  ): Promise<Items<R>>;
/* end */
}

/** A copy of a value without its files, which are added to `files` with their paths. */
function withoutFiles(value: any, path: string, files: [string, any][]): any {
  const { Blob } = globalThis as any;
  if (Blob && value instanceof Blob) return void files.push([path, value]);
  if (Object.prototype.toString.call(value) !== "[object Object]" || typeof value.toJSON === "function") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutFiles(inner, `${path}.${name}`, files)]),
  );
}

/** A form with the JSON first, and then the files. */
function formOf(json: string, files: [string, any][]): any {
  const form = new (globalThis as any).FormData();
  form.append("gateway-body", json);
  for (const [path, file] of files) form.append(path, file);
  return form;
}

/** A key that no other call has. */
function newKey(): string {
  const random = () => Math.random().toString(36).slice(2);
  return (globalThis as any).crypto?.randomUUID?.() ?? `${Date.now()}-${random()}-${random()}`;
}

/**
 * JSON in which a number beyond the safe integers is written as what it is: 1e+20, a float. JavaScript would write digits
 * that it does not hold, of an integer.
 */
function jsonOf(body: unknown): string {
  const mark = newKey();
  const isRounded = (value: unknown): value is number => Number.isInteger(value) && !Number.isSafeInteger(value);
  const json = JSON.stringify(body, (_, value) => (isRounded(value) ? mark + value.toExponential() : value));
  return json.replace(new RegExp(`"${mark}(.*?)"`, "g"), "$1");
}

/** Whether a reply is a failure after which the same request may succeed. */
function mayPass(reply: unknown): boolean {
  if (!(reply instanceof GatewayError)) return false;
  return [0, 502, 503, 504].includes(reply.status) || reply.code === "in_progress";
}

export function createClient(options: ClientOptions): Client {
  const { url, token, headers = {}, onError } = options;
  const endpoint = `${url.replace(/\/+$/, "").replace(/\/gateway$/, "")}/gateway`;

  const failed = (status: number, body: Refusal, cause?: unknown): GatewayError => {
    const error = new GatewayError({ success: false, status, body }, cause);
    onError?.(error);
    return error;
  };

  type Files = [string, any][];
  const post = async (body: any, { headers, signal }: CallOptions = {}, files: Files = []): Promise<any> => {
    const fetch = options.fetch ?? (globalThis as unknown as { fetch: Fetch }).fetch;
    let status = 0;
    let told: ReplyHeaders = { get: () => null };
    let envelope: any;
    try {
      const json = jsonOf(body);
      const response = await fetch(endpoint, {
        method: "POST",
        headers: {
          ...(files.length ? { "X-Gateway": "1" } : { "Content-Type": "application/json" }),
          "X-Gateway-Detail": "1",
          ...client.headers,
          ...(client.token ? { token: client.token } : {}),
          ...headers,
        },
        body: files.length ? formOf(json, files) : json,
        ...(signal ? { signal } : {}),
      });
      status = response.status;
      told = response.headers ?? told;
      envelope = JSON.parse(await response.text());
    } catch (cause) {
      const why = status ? "the reply is not JSON" : "no reply";
      const code = status ? "no_envelope" : "no_reply";
      return failed(status, { message: `${why}: ${cause instanceof Error ? cause.message : cause}`, code }, cause);
    }
    if (envelope?.success === true/* batch */ || (body.batch && Array.isArray(envelope?.body))/* end */) return { ...envelope, status, headers: told };
    if (envelope?.success === false) return failed(status, { message: "refused", code: "refused", ...envelope.body });
    return failed(status, { message: "the reply is no envelope", code: "no_envelope" });
  };

  const run = async ({ service, model, act, details }: any, options: any = {}): Promise<any> => {
    const { set = {}, get } = details;
    const { retries = 0, key = retries > 0 ? newKey() : undefined, ...rest } = options;
    if (key !== undefined) rest.headers = { ...rest.headers, "Idempotency-Key": key };
    const files: Files = [];
    const body = { service, model, act, details: { set: withoutFiles(set, "set", files), get } };
    for (let tries = 0; ; tries++) {
      const reply = await post(body, rest, files);
      if (tries >= retries || rest.signal?.aborted || !mayPass(reply)) return reply;
      await new Promise((done) => (globalThis as any).setTimeout(done, Math.min(100 * 2 ** tries, 5000)));
    }
  };

  const client: Client = {
    token,
    headers: { ...headers },
    async call(model: any, act: any, details: any, { service, ...options }: any = {}): Promise<any> {
      const reply = await run({ service, model, act, details }, options);
      if (reply instanceof GatewayError) throw reply;
      return reply.body;
    },
    async *pages(model: any, act: any, { set, get }: any, options?: any): AsyncGenerator<any> {
      const seen = new Set<unknown>();
      for (let after = set?.after; after !== null; ) {
        seen.add(after);
        const page = await (client.call as any)(model, act, { set: { ...set, after }, get }, options);
        after = page?.next;
        if (seen.has(after) || (after !== null && typeof after !== "string"))
          throw failed(200, { message: "the list does not go on", code: "no_progress" });
        yield page;
      }
    },
    async send(request: any, options?: CallOptions): Promise<any> {
      const reply = await run(request, options);
      return reply instanceof GatewayError ? reply.reply : reply;
    },
/* batch */
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
/* end */
  };
  return client;
}
/* batch */

/** Most requests of a `batch`. */
export const maxBatch = /* most */;

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
/* end */
