/** What the first bytes of a file tell of its type: the rules of the service, which believes no name. */

/** Bytes that tell every type. */
export const HEAD = 4096;

const ZIP = /^PK(\x03\x04|\x05\x06)/;
const OFFICE = "application/vnd.openxmlformats-officedocument";

const SIGNATURES: Readonly<Record<string, RegExp>> = {
  "image/png": /^\x89PNG\r\n\x1a\n\0\0\0\rIHDR/,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF[^]{4}WEBPVP8[ LX]/,
  "image/avif": /^[^]{4}ftyp(avif|avis)/,
  "application/pdf": /^%PDF-[12]\./,
  "audio/mpeg": /^(ID3|\xff[\xfa\xfb\xf3\xf2])/,
  "audio/ogg": /^OggS\0/,
  "audio/wav": /^RIFF[^]{4}WAVE/,
  "video/mp4": /^[^]{4}ftyp(avc1|dash|iso[2-9]|isom|M4V |mp4[12]|MSNV)/,
  "video/webm": /^\x1aE\xdf\xa3/,
  "application/gzip": /^\x1f\x8b\x08/,
  "application/zip": ZIP,
  [`${OFFICE}.wordprocessingml.document`]: ZIP,
  [`${OFFICE}.spreadsheetml.sheet`]: ZIP,
  [`${OFFICE}.presentationml.presentation`]: ZIP,
};

/** Whether a content that begins so may be of one of some types; any is, where there are none. What is not known here may be. */
export function isOfType(head: Uint8Array, types: readonly string[]): boolean {
  const bytes = Array.from(head, (byte) => String.fromCharCode(byte)).join("");
  return types.length === 0 || types.some((type) => (Object.hasOwn(SIGNATURES, type) ? SIGNATURES[type]?.test(bytes) : !/^(text\/|application\/json)/.test(type) || isText(head, bytes)));
}

/** UTF-8 without control characters, whose last character may be cut. */
function isText(head: Uint8Array, bytes: string): boolean {
  if (/[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]/.test(bytes)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: head.length === HEAD });
    return true;
  } catch {
    return false;
  }
}
