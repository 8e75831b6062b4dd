/** Deterministic text that repeats itself as records do. */
export function sampleText(length: number): Uint8Array {
  const words = ["broker", "offset", "leader", "epoch", "replica", "commit", "fetch", "record"];
  let seed = 7;
  let text = "";
  while (text.length < length) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    const gap = (seed >>> 20) % 5 === 0 ? "\n" : " ";
    text += `${words[(seed >>> 16) % 8]}-${(seed >>> 8) % 1000}${gap}`;
  }
  return Uint8Array.from(text.slice(0, length), (letter) => letter.charCodeAt(0));
}

/** Deterministic numbers below `kinds`: a code of few symbols. */
function fewKinds(length: number, kinds: number): Uint8Array {
  let seed = 3;
  return Uint8Array.from({ length }, () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 16) % kinds;
  });
}

/** What the `zstd` command (1.5) made of a content, in base64. */
export const ZSTD_SAMPLES: readonly {
  readonly name: string;
  readonly content: Uint8Array;
  readonly frame: string;
}[] = [
  {
    name: "a raw block, with a checksum",
    content: sampleText(40),
    frame: "KLUv/SQoQQEAcmVwbGljYS03NwpmZXRjaC00MTUgcmVwbGljYS0yODggbGVhZGVyLRVa4k4=",
  },
  {
    name: "literals in one stream, a described table of distances",
    content: sampleText(600),
    frame:
      "KLUv/WBYAUUIAHIMIhhwNc0DWjtRlUi+owcAgJCRJUWIr/6fvya2Wl3HLNVCy29y77eU9XuI26z2X++24g0zs+tn5aEiY/J7y0Z+8Z4AKAnI7cZYBgmZWrZDy1S7Vc5RL9S0vur46ujEE1AUiByT49etJAqHAzKkXggGIQ7B3pLOIHAM5D+iloVgEqcYzCVgCgbESQEzICBCRBjUB6MyNpGM3XmMkpGPDLnJwO9biow3MnQguHvzmE5wxGQQy4AheJMgtGEPiyPImWTzkLGGe/iCx04wkgzCgnd5QMqkCBmH6wr8CcEaW7QszkUeXwYuymgEZ+ThyCPovq0yGgnGIKNxkDyZXIGBwAczkZjkRYIzAQ==",
  },
  {
    name: "two blocks, the second by the code and the tables of the first",
    content: sampleText(5000),
    frame:
      "KLUv/WSIEuwpAKozvAYYkKvQAajplo6SUjPTXUopSSnlm7N/cVACewBdAFsAH9uajjU+PDSqxoxM6mmOapkyw7dmy8nXyGHb5KZBMjUdqs+xA5kjJoOEhQCE53USAgsJisFOZkQ1YZUOw2OKdlcdzDqcZsEwMJCAkCKkHl6ioQABIUGBGE4QKBIUFog5EwsLAYDFAcIWRI0SBIqGxcChTQAoCg4UFgsBPl0+d5SV4u7O5L5U2TXkRZ0pjs82QzNCkwwqrz7qop6X6UZEUvVkDx9k6mWa0k/xiWjksio9Q0O1UbF0KoexvYi1Xq20n/QXVlb1U8nQ5l6W9gPpnwzVR3nXkMwJu4yOLY91XUuc6ZOcY6hj5bK7VJNvhmqPXLsl49R5KRx5mvpchFYtKS+/lSzZGJ/H60ceSzU2yOJnSK5xlIZ4DMKuqXyNXiK1jyqeHL87/KLRmqpx11aZnKSIGsMhzyzbSNeaCbsSy6iGtUESqQONXmY6Jw52Y/raITKI1X7Dumt0GM6gGq/GXFecyngatWY6xKsS0mdc7ZSkQeP1NDKcQ+k7yGtvxRs8d6J4SL+F9UyNDvFCX3kYJYHMqOE4tS0U9poDYYSEKExay90RUAjCiPB6eh352EyS2e4YQ8gln6jc7QM9aY9U7jcb1ZlCcetdxUmffBqhsQ/LLPEjiRMlcXqsTGrJafSO3Kctil5kgrJxhkUxiLr+eVY79hfwPilX+L62/QT+x10E5C77FoAiceAi7IVGVRbftGnC9XW+Gj+fipRYjYCIVGAOI3n22RFBU52JG7ZjYvSB6yLq1hX1qCMA5o3CkEtnWy4PmprS6XvVBF7toVvYzVykDAgPgEBPwf2FIsbdG25RJtPBT04jpijL0BnErMo/Cj0GTVR4uFEJmF9e3475DRKHxNccOrJnsz0fR74DLpGIduNojsUQgRCkxzscg0F4dhC5suvbX46GHhhHO8EEbOPkl34C3o2qDB5KatL5gQvOkTZE0ClTvAUevOwXBmD8NA5c5ioIwUtOvbybwJVu+AyRdfF4isz5EAMEwuQ8PgKGiZQ60EUDRIL3hFx12ItNo4RZIypx8ywzd82+63nbkj7VENppXMGv5IVlSNDLmWr7J3Dv+yyscjqsOGQQaPDBQs0K3CE0xFHOUT69SPaglhfHwBbbIxnxQGhmzcNAByGTjCzoZ1N4Xtw/SAwPfSght2eTqaIMmS68weHIbXUhWUmwZ+Y6jWvFwIrjUQcC0pREl7Hxxw04vySX6FOplVrXadWb8IPdS9G8PxJ46HDZMi4AgN8ruC9440ktOnEzOV6MqAVUrZWo8nHPl3Q2dxdJCUZj8Zgs9ACzBbk52kW1ivYjfiVyOuaMtlRHshy8dG8VWQUVX7FlAsUkePMK2I8XAEm5Dt4hzlYUU6AZIPnR8W4H5QAoDfX7WUjdTL6l62v8kz2W2YqrtY5Qkvxf2uHKfRROgGUGdDWDA311Fk6okEjS77b5y9TAakARi9tTmKuLHV2PkiWOokKI8ysFTKudmSkkQLkmTrHejZksNS0luXcpIVhkhf8Ai3zczND0OCH+Zr9pHlzcRzlAsNUoUmgGQgc4MkAiMjS/G2NkWngGn7Jx7XVZ957jWyeD+ExjI6sJM1/pDqn4jkBNB2SjGw2yancDAhCxlmgBiome3deonJPk1vBQKe4b1hHqjqepkQDiB9cbQ0PNh9EQjCZZr2lg920kDOqEpAJ3IMxFfofdgZ9G1MRouea4/wO3ac/J2DhcAus2bHQxFqih83lgXwgD7Q+kLzFQxUJQA70CAHNCBNPNpiFjhOxZTnRXFt0e86jGH/wdE6qOLT2AysKzs8Hr9DLqA2by5UYLd+P3ZdN2HS5o9wCeH4/RTHGSc7RLDflyf4aMO/PJjnlqqB4bdRlo3YWatvt/LcY=",
  },
  {
    name: "raw literals and the tables that are always there",
    content: new Uint8Array(2000),
    frame: "KLUv/WDQBk0AABAAAAEAy/8ACw==",
  },
  {
    name: "a code whose weights are written plainly",
    content: fewKinds(150, 3),
    frame:
      "KLUv/SSWpQEAYgUFgRJFcYkq2I3aSU3RBTNCowxBwsILAD/zpLZLBoE5yTpsImF8pcoo1ASvrs45BeKloE8H74o=",
  },
  {
    name: "literals in four streams, and no sequences",
    content: fewKinds(500, 3),
    frame:
      "KLUv/WT0AK0DAEZfHIEhGgAaABoAeUSIQcUkuDSoMngX0SDIEoM1qCHlaISbTEzQrN5RqC64SDwcg+UQtopgqRUGnrVCMKitGmzJq0rVRk0VWynaCN7MEjQ44SiK0qqVJYRcAcUkFqHpO05IUbFBiAolEtSQGo6WVSqGrdIBAPGrlF0=",
  },
  {
    name: "literals in four streams, the content's size not told",
    content: fewKinds(700, 7),
    frame:
      "KLUv/QQArQgAVmg8hRESEToAOgA5AACSTSuRpMooNRN3Uwb40p0ZZq6VjIb9S0gsjDIMZMtixq4VEFnPumi3MHxFMwi49uGpcmPbVORZRh0JgjfmLjmmf3m1ZkX3Bp5GA1xDlMlEkO21XSK6gxBQURtuxEETQXAvoTMsieCmBNVFYn7htmZAWfE2VbZ15DYMpa9GSPCZqOPUPctbwKh/Q3UUaKPj4GUqELrZBRkg/axLiI5K2siqelcsLgSolxZql/WNnJruTsCWeFmMgui83TolgI7VOJdSmcSPIIIxKFCJA+a0VquvCyQykpqIyioUDgWUUkOkZBYBmN1xCwoAbxAAQNyBg0zt7729Ye17WHzre9thHi6BxmrkjmYTDb39JcI=",
  },
];

/** The bytes that base64 stands for. */
export function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
