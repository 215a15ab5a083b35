// Recursive smoothing forth and back along rows, then along columns. Tiles load only what their phase reads.
// sagen:
// sagen: --space j --tile j=3
// sagen: --space i --tile i=2
void deriche(float imgIn[6][5], float imgOut[6][5], float y1[6][5], float y2[6][5], float a1, float a2, float a3, float a4, float b1, float b2) {
  float xm1, tm1, ym1, ym2, xp1, xp2, tp1, tp2, yp1, yp2;
#pragma scop
  for (int i = 0; i < 6; i++) {
    ym1 = 0.0f;
    ym2 = 0.0f;
    xm1 = 0.0f;
    for (int j = 0; j < 5; j++) {
      y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = imgIn[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int i = 0; i < 6; i++) {
    yp1 = 0.0f;
    yp2 = 0.0f;
    xp1 = 0.0f;
    xp2 = 0.0f;
    for (int j = 4; j >= 0; j--) {
      y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
      xp2 = xp1;
      xp1 = imgIn[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++)
      imgOut[i][j] = y1[i][j] + y2[i][j];
  for (int j = 0; j < 5; j++) {
    tm1 = 0.0f;
    ym1 = 0.0f;
    ym2 = 0.0f;
    for (int i = 0; i < 6; i++) {
      y1[i][j] = a1 * imgOut[i][j] + a2 * tm1 + b1 * ym1 + b2 * ym2;
      tm1 = imgOut[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int j = 0; j < 5; j++) {
    tp1 = 0.0f;
    tp2 = 0.0f;
    yp1 = 0.0f;
    yp2 = 0.0f;
    for (int i = 5; i >= 0; i--) {
      y2[i][j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2;
      tp2 = tp1;
      tp1 = imgOut[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++)
      imgOut[i][j] = y1[i][j] + y2[i][j];
#pragma endscop
}
