// A function with early returns and a long argument: the argument becomes a variable.
// sagen:
static int next(int alive, int around) {
  if (alive == 1 && (around < 2 || around > 3)) return 0;
  if (alive == 1 && (around == 2 || around == 3)) return 1;
  if (alive == 0 && around == 3) return 1;
  return alive;
}
void generation(signed char now[8][9], signed char then[8][9]) {
#pragma scop
  for (int y = 1; y < 7; y++)
    for (int x = 1; x < 8; x++)
      then[y][x] = next(now[y][x] & 1, (now[y - 1][x - 1] & 1) + (now[y - 1][x] & 1) + (now[y - 1][x + 1] & 1) + (now[y][x - 1] & 1)
                                           + (now[y][x + 1] & 1) + (now[y + 1][x - 1] & 1) + (now[y + 1][x] & 1) + (now[y + 1][x + 1] & 1));
#pragma endscop
}
