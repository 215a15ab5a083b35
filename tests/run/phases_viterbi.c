// Every state of a step is reached from all states of the one before.
void viterbi(int score[7][5], int step[5][5], int seen[7][5]) {
  int best;
#pragma scop
  for (int s = 0; s < 5; s++)
    score[0][s] = seen[0][s];
  for (int t = 1; t < 7; t++)
    for (int s = 0; s < 5; s++) {
      best = score[t - 1][0] + step[0][s];
      for (int r = 1; r < 5; r++)
        best = best >= score[t - 1][r] + step[r][s] ? best : score[t - 1][r] + step[r][s];
      score[t][s] = best + seen[t][s];
    }
#pragma endscop
}
