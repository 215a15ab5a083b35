    // Properties of templates::axi::control, inserted into the module: each request gets one response, which stays
    // valid until it is accepted; after a reset nothing is accepted or answered, and no run starts before the core is ready.
    reg f_past = 0;
    reg [3:0] f_aws = 0, f_ws = 0, f_ars = 0;
    wire f_b = s_axi_control_bvalid && s_axi_control_bready, f_r = s_axi_control_rvalid && s_axi_control_rready;
    reg f_b_waits = 0, f_r_waits = 0, f_rst = 1;
    reg [31:0] f_rdata;
    reg f_ready = 0;
    always @(posedge ap_clk) begin
        f_past <= 1; f_ready <= ready; f_rst <= rst;
        f_aws <= rst ? 0 : f_aws + (s_axi_control_awvalid && s_axi_control_awready) - f_b;
        f_ws <= rst ? 0 : f_ws + (s_axi_control_wvalid && s_axi_control_wready) - f_b;
        f_ars <= rst ? 0 : f_ars + (s_axi_control_arvalid && s_axi_control_arready) - f_r;
        f_b_waits <= s_axi_control_bvalid && !s_axi_control_bready && !rst;
        f_r_waits <= s_axi_control_rvalid && !s_axi_control_rready && !rst;
        f_rdata <= s_axi_control_rdata;
    end
    always @* begin
        if (!f_past) assume (rst);
        if (f_past) begin
            assert (f_aws == aw_held + bvalid && f_ws == w_held + bvalid && f_ars == rvalid);
            if (start) assert (f_ready && !f_rst);
            if (f_b_waits) assert (s_axi_control_bvalid);
            if (f_r_waits) assert (s_axi_control_rvalid && s_axi_control_rdata == f_rdata);
            if (f_rst) assert (!s_axi_control_awready && !s_axi_control_wready && !s_axi_control_arready && !s_axi_control_bvalid && !s_axi_control_rvalid && !start && !stop);
        end
    end
    always @* if (f_past) cover (start && s_axi_control_rvalid);
