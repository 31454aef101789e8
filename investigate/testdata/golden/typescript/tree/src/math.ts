export const clamp = (n: number): number => Math.min(n, 1000)
