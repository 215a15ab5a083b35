// Names that Verilog or the ports' names could trip over: keywords, underscores at both ends, names that differ in case.
// sagen:
// sagen: --ports wire_+_in,reg
void module(int wire_[4], int _in[4], int reg[4], int Reg[4], int s_axi_control[4]) {
#pragma scop
  for (int always = 0; always < 4; always++) {
    s_axi_control[always] = wire_[always] + _in[always];
    reg[always] = s_axi_control[always] - Reg[always];
  }
#pragma endscop
}
