/** The part of lz4js that tests compare with. */
declare module "lz4js" {
  export function decompress(frame: Uint8Array): Uint8Array;
}
