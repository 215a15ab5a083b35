// Types of other libraries are refused once, by name.
#include "hls_stream.h"
void f(hls::stream<int> &in, hls::stream<ap_int<8> > &out, ap_fixed<16, 8> scale[4], int y[8]) { //~ ERROR E0301 `hls::stream` is a queue
  //~^ ERROR E0301 `hls::stream` is a queue
  //~^^ ERROR E0301 `ap_fixed` is a fixed-point number
#pragma scop
  for (int i = 0; i < 8; i++) {
    int v = in.read();
    y[i] = v * scale[0];
    out.write(v);
  }
#pragma endscop
}
