// Behaviour of a DSP48E2, as far as e1_to_e2.v and xilinx_dsp use it: registers of A, B, C, D, AD, M and P, multiplexers W, X, Y and
// Z, addition. Yosys has it as a black box only. Ports and parameters: UG579. For netlist.py.
module DSP48E2 #(parameter ACASCREG=1, ADREG=1, ALUMODEREG=1, AREG=1, BCASCREG=1, BREG=1, CARRYINREG=1, CARRYINSELREG=1,
  CREG=1, DREG=1, INMODEREG=1, MREG=1, OPMODEREG=1, PREG=1, parameter AMULTSEL="A", BMULTSEL="B", A_INPUT="DIRECT",
  B_INPUT="DIRECT", USE_MULT="MULTIPLY", USE_SIMD="ONE48", parameter [47:0] RND=0, parameter USE_PATTERN_DETECT="NO_PATDET")
 (input CLK, input [29:0] A, input [17:0] B, input [47:0] C, input [26:0] D, input [47:0] PCIN, input [29:0] ACIN, input [17:0] BCIN, input CARRYCASCIN, MULTSIGNIN, output [29:0] ACOUT, output [17:0] BCOUT, output CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, UNDERFLOW, PATTERNDETECT, PATTERNBDETECT, output [3:0] CARRYOUT, output [7:0] XOROUT, output [47:0] P, PCOUT,
  input [8:0] OPMODE, input [4:0] INMODE, input [3:0] ALUMODE, input [2:0] CARRYINSEL, input CARRYIN,
  input CEA1, CEA2, CEB1, CEB2, CEC, CED, CEAD, CEM, CEP, CECTRL, CEINMODE, CEALUMODE, CECARRYIN,
  input RSTA, RSTB, RSTC, RSTD, RSTM, RSTP, RSTCTRL, RSTINMODE, RSTALUMODE, RSTALLCARRYIN);
  reg [29:0] a1, a2; reg [17:0] b1, b2; reg [47:0] c1, p1; reg signed [26:0] d1, ad1; reg signed [44:0] m1; reg [8:0] op1;
  wire [29:0] av = AREG==0 ? A : a2; wire [17:0] bv = BREG==0 ? B : b2; wire [47:0] cv = CREG ? c1 : C;
  wire signed [26:0] dv = DREG ? d1 : D; wire [8:0] op = OPMODEREG ? op1 : OPMODE;
  wire signed [26:0] sum = (INMODE[1] ? 27'd0 : av[26:0]) + (INMODE[2] ? dv : 27'd0);
  wire signed [26:0] adv = ADREG ? ad1 : sum;
  wire signed [26:0] ma = AMULTSEL=="AD" ? adv : av[26:0];
  wire signed [44:0] prod = ma * $signed(bv); wire signed [44:0] mv = MREG ? m1 : prod;
  wire [47:0] x = op[1:0]==1 ? {{3{mv[44]}}, mv} : op[1:0]==2 ? p1 : op[1:0]==3 ? {av, bv} : 48'd0;
  wire [47:0] y = op[3:2]==3 ? cv : op[3:2]==2 ? {48{1'b1}} : 48'd0; // 1: with X, the product
  wire [47:0] z = op[6:4]==1 ? PCIN : op[6:4]==2 ? p1 : op[6:4]==3 ? cv : 48'd0;
  wire [47:0] w = op[8:7]==1 ? p1 : op[8:7]==2 ? RND : op[8:7]==3 ? cv : 48'd0;
  wire [47:0] r = USE_SIMD=="TWO24" ? {w[47:24]+x[47:24]+y[47:24]+z[47:24], w[23:0]+x[23:0]+y[23:0]+z[23:0]} : w+x+y+z+CARRYIN;
  always @(posedge CLK) begin
    if (CEA1) a1 <= A; if (RSTA) a1 <= 0; if (CEA2) a2 <= AREG==2 ? a1 : A; if (RSTA) a2 <= 0;
    if (CEB1) b1 <= B; if (RSTB) b1 <= 0; if (CEB2) b2 <= BREG==2 ? b1 : B; if (RSTB) b2 <= 0;
    if (CEC) c1 <= C; if (RSTC) c1 <= 0; if (CED) d1 <= D; if (RSTD) d1 <= 0; if (CEAD) ad1 <= sum;
    if (CEM) m1 <= prod; if (RSTM) m1 <= 0; if (CEP) p1 <= r; if (RSTP) p1 <= 0; if (CECTRL) op1 <= OPMODE; if (RSTCTRL) op1 <= 0;
  end
  assign P = PREG ? p1 : r; assign PCOUT = P;
endmodule
