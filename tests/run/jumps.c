// Jumps that leave out the rest of a block: `continue`, `break`, `switch` and early `return`.
enum kind { PLAIN, UP = 3, UP_TWICE };

static int changed(enum kind k, int x) {
  switch (k) {
  case PLAIN:
    return x;
  case UP:
  case UP_TWICE:
    return x + 1;
  default:
    return -x;
  }
}

static void put(int *y, int i, int x) {
  if (x < 0)
    return;
  y[i] = x;
  if (x > 100) {
    if (x > 110)
      return;
    y[i] = 100;
  }
  y[i] += 1;
}

#pragma sagen range(k, 0, 6)
void jumps(const signed char x[24], const unsigned char k[24], int y[24], int z[24], int found[2]) {
#pragma scop
  int best = -1;
  int i;
  for (i = 0; i < 24; i++) {
    if (x[i] > 90) {
      best = x[i];
      break;
    }
    if (x[i] % 5 == 0)
      continue;
    best += 1;
  }
  found[0] = best;
  int count = 0;
  for (int j = 0; j < 24; j++) {
    if (j > 3) {
      int twice = 2 * x[j];
      if (twice < -200)
        break;
      count += twice > 100;
    }
    count++;
  }
  found[1] = count;
  for (i = 0; i < 24; i++)
    y[i] = changed(k[i], x[i]);
  for (i = 0; i < 24; i++) {
    z[i] = 0;
    if (x[i] == 3)
      continue;
    switch (k[i]) {
    case 1:
      z[i] = 1;
      break;
    case 2: {
      if (x[i] > 4) {
        z[i] = 7;
        break;
      }
      z[i] = 2;
    } break;
    default:
      z[i] = 9;
      if (x[i] < -50)
        continue;
      break;
    case 4:
      z[i] = 4;
    }
    z[i] += 100;
    put(z, i, x[i]);
  }
#pragma endscop
}
