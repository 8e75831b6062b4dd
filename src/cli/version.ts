declare const __SIM_VERSION__: string;

/** The engine's version, put in by the build. */
export const VERSION: string = __SIM_VERSION__;
