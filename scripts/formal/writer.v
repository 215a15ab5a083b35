    // Properties of templates::axi::writer, inserted into the module. Macros: BYTES of a beat, DEPTH of the word FIFO,
    // AT (its address bits), and those of bounds.v.
    reg f_past = 0, f_rst = 1, f_reset = 1, f_live = 0;
    always @(posedge ap_clk) begin f_past <= 1; f_rst <= rst; f_reset <= reset; f_live <= live; end
    wire f_aw = m_axi_awvalid && m_axi_awready;
    wire f_w = m_axi_wvalid && m_axi_wready;
    wire f_b = m_axi_bvalid && m_axi_bready;

    // Assumptions: the run starts with a reset; `rst` follows a low `live` and lasts until no burst is open; the memory
    // answers a burst when it has all beats, and forgets its bursts while `live` is low; each token gets one word.
    reg [23:0] f_aws = 0, f_ws = 0, f_bs = 0, f_asked = 0;
    always @(posedge ap_clk) begin
        if (reset || !live) begin f_aws <= 0; f_ws <= 0; f_bs <= 0; end
        else begin f_aws <= f_aws + f_aw; f_ws <= f_ws + (f_w && m_axi_wlast); f_bs <= f_bs + f_b; end
        f_asked <= reset ? 24'd0 : f_asked + dr_valid - rd_valid;
    end
    always @* begin
        if (!f_past) assume (!live);
        if (!f_live) assume (rst);
        if (f_rst && !rst) assume (f_live && f_reset && quiet);
        if (m_axi_bvalid) assume (f_bs < f_aws && f_bs < f_ws);
        if (rd_valid && !rst) assume (f_asked != 0);
    end

    // The handshake: an offer stays unchanged until it is accepted, also in a soft reset; no offer after a reset; no burst
    // crosses 4 KiB; every response is accepted.
    reg [71:0] f_aw_was;
    reg [9*`BYTES:0] f_w_was;
    reg f_aw_waits = 0, f_w_waits = 0;
    always @(posedge ap_clk) begin
        f_aw_was <= {m_axi_awaddr, m_axi_awlen}; f_aw_waits <= m_axi_awvalid && !m_axi_awready && live;
        f_w_was <= {m_axi_wdata, m_axi_wstrb, m_axi_wlast}; f_w_waits <= m_axi_wvalid && !m_axi_wready && live;
    end
`ifndef BOUNDED
    always @* if (f_past) begin
        if (f_aw_waits) assert (m_axi_awvalid && f_aw_was == {m_axi_awaddr, m_axi_awlen});
        if (f_w_waits) assert (m_axi_wvalid && f_w_was == {m_axi_wdata, m_axi_wstrb, m_axi_wlast});
        if (!f_live) assert (!m_axi_awvalid && !m_axi_wvalid && bursts_open == 0 && quiet);
        if (reset) assert (!m_axi_awvalid && !m_axi_wvalid && bursts_open == 0);
        if (channel_valid) assert ({8'd0, channel_beat[7:0] & (4096 / `BYTES - 1)} + channel_len + 1 <= 4096 / `BYTES || `BYTES < 16);
        if (channel_valid) assert ({8'd0, channel_beat[7:0]} + channel_len + 1 <= 256 || `BYTES >= 16);
        if (channel_second) assert ({8'd0, channel_second_beat[7:0] & (4096 / `BYTES - 1)} + channel_second_len + 1 <= 4096 / `BYTES || `BYTES < 16);
        if (channel_second) assert ({8'd0, channel_second_beat[7:0]} + channel_second_len + 1 <= 256 || `BYTES >= 16);
        assert (m_axi_bready);
    end

    // The two-place queue of each channel returns each entry once and in order; a soft reset drops an address in the
    // second place.
    reg [1:0] f_a_count = 0;
    reg [71:0] f_a_first, f_a_next;
    always @(posedge ap_clk) begin
        if (reset || !live) f_a_count <= 0;
        else if (ends_bursts) f_a_count <= f_a_count != 0 && !f_aw;
        else f_a_count <= f_a_count + channel_load - f_aw;
        if (f_a_count == 0 || f_aw) f_a_first <= f_a_count == 2 ? f_a_next : {seg_beat, seg_len};
        if (f_a_count != 2) f_a_next <= {seg_beat, seg_len};
    end
    reg [1:0] f_d_count = 0;
    reg [9 * `BYTES:0] f_d_first, f_d_next;
    always @(posedge ap_clk) begin
        if (reset || !live) f_d_count <= 0;
        else f_d_count <= f_d_count + w_load - f_w;
        if (f_d_count == 0 || f_w) f_d_first <= f_d_count == 2 ? f_d_next : {send_data, send_strb, burst_last};
        if (f_d_count != 2) f_d_next <= {send_data, send_strb, burst_last};
    end
    always @* if (f_past && f_live && !reset) begin
        assert (!channel_load || f_a_count != 2);
        assert (f_a_count == channel_valid + channel_second && (channel_valid || !channel_second));
        if (channel_valid) assert (f_a_first == {channel_beat, channel_len});
        if (channel_second) assert (f_a_next == {channel_second_beat, channel_second_len});
        assert (!w_load || f_d_count != 2);
        assert (f_d_count == w_valid + w_second && (w_valid || !w_second));
        if (w_valid) assert (f_d_first == {w_data, w_strb, w_last});
        if (w_second) assert (f_d_next == {w_second_data, w_second_strb, w_second_last});
    end

    // Flags in registers are what they stand for.
    always @* if (f_past) begin
        assert (some_open == (bursts_open != 0));
        // No burst begins at 2^14 open ones; two may wait in the channel.
        assert (bursts_open + (channel_valid && !address_waits ? 16'd1 : 16'd0) + channel_second <= 16'h4001);
        assert (!address_waits || channel_valid);
        if (seg_valid && !reset) assert (seg_last == (seg_left <= seg_space));
        if (!rst) assert (word_some || word_head == word_tail);
    end
    // Items in the word FIFO.
    wire [`AT:0] word_count = {word_some && word_tail == word_head, word_tail - word_head};

    // Every requested word has space in the FIFO, which returns each word once and in order.
    (* anyconst *) reg [`AT-1:0] f_at;
    reg f_in = 0;
    reg [8*`BYTES-1:0] f_data;
    wire [`AT-1:0] f_place = f_at - word_head;
    always @(posedge ap_clk) if (reset) f_in <= 0; else begin
        if (word_pop && word_head == f_at) f_in <= 0;
        if (word_push && word_tail == f_at) begin f_in <= 1; f_data <= rd_data; end
    end
    always @* if (f_past && !rst) begin
        assert (ask_space <= `DEPTH && word_count <= `DEPTH);
        assert (ask_space + dr_valid_q + f_asked + word_count == `DEPTH);
        if (rd_valid) assert (word_count < `DEPTH);
        if (word_pop) assert (word_count != 0);
        assert (f_in == ({1'b0, f_place} < word_count));
        if (f_in) assert (word_mem[f_at] == f_data);
    end

`include "bounds.v"
`endif
`ifdef BOUNDED
    // WLAST comes with the last beat of the burst, no data without an address, every strobed byte is in the array: for a
    // run from its start, with the array at any address below 2 KiB.
    (* anyconst *) reg [63:0] f_base;
    reg [63:0] f_at_address [0:15];
    integer f_lane;
    reg [2:0] f_time = 0;
    reg [7:0] f_len [0:15];
    reg [3:0] f_new = 0, f_old = 0;
    reg [7:0] f_beat = 0;
    always @(posedge ap_clk) begin
        if (f_time != 7) f_time <= f_time + 1;
        if (!live) begin f_new <= 0; f_old <= 0; f_beat <= 0; end
        else if (m_axi_awvalid && !f_aw_waits) begin f_len[f_new] <= m_axi_awlen; f_at_address[f_new] <= m_axi_awaddr; f_new <= f_new + 1; end
        if (f_w && live) begin f_beat <= m_axi_wlast ? 8'd0 : f_beat + 8'd1; f_old <= f_old + m_axi_wlast; end
    end
    always @* begin
        assume (rst == (f_time < 2) && live == (f_time != 0) && start == (f_time == 2));
        assume (`BASE_PORT == f_base && f_base < 2048 && f_base % `ALIGNED == 0 && f_base[2:0] == 0);
        if (f_past && m_axi_wvalid) assert (f_old != f_new && m_axi_wlast == (f_beat == f_len[f_old]));
        if (f_past && m_axi_wvalid) for (f_lane = 0; f_lane < `BYTES; f_lane = f_lane + 1) if (m_axi_wstrb[f_lane])
            assert (f_at_address[f_old] + f_beat * `BYTES + f_lane >= f_base && f_at_address[f_old] + f_beat * `BYTES + f_lane < f_base + `EXTENT);
    end
`endif
`ifdef LIVE
    always @* assume (rst == !f_live && live == f_past);
    always @* if (f_past) assert (!(m_axi_wvalid && m_axi_wready && m_axi_wlast));   // to be refuted
`endif
