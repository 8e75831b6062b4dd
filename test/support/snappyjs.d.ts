/** The part of snappyjs that tests compare with. */
declare module "snappyjs" {
  export function compress(bytes: Uint8Array): Uint8Array;
  export function uncompress(block: Uint8Array): Uint8Array;
}
