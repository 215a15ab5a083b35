// Divisions of divisions in subscripts.
// sagen:
void unfold(int k[2][3][3], int row[18]) {
#pragma scop
  for (int c = 0; c < 18; c++) row[c] = k[c / 3 / 3][(c / 3) % 3][c % 3];
#pragma endscop
}
