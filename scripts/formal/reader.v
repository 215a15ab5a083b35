    // Properties of templates::axi::reader, inserted into the module. Macros: BYTES of a beat, AHEAD, AT (address bits
    // of AHEAD), LOADED, and those of bounds.v.
    reg f_past = 0, f_rst = 1, f_reset = 1, f_live = 0;
    always @(posedge ap_clk) begin f_past <= 1; f_rst <= rst; f_reset <= reset; f_live <= live; end
    wire f_ar = m_axi_arvalid && m_axi_arready;
    wire f_r = m_axi_rvalid && m_axi_rready;

    // Assumptions: the run starts with a reset; `rst` follows a low `live` and lasts until no burst is open; the memory
    // returns the requested beats, the last of a burst with RLAST, and forgets its bursts while `live` is low.
    reg [23:0] f_owed = 0;
    wire [23:0] f_owed_next = f_owed + (f_ar ? m_axi_arlen + 24'd1 : 24'd0) - (f_r ? 24'd1 : 24'd0);
    reg [23:0] f_taken = 0;     // bursts that the memory has accepted and not completed
    wire [23:0] f_taken_next = f_taken + (f_ar ? 24'd1 : 24'd0) - (f_r && m_axi_rlast ? 24'd1 : 24'd0);
    always @(posedge ap_clk) begin f_owed <= live ? f_owed_next : 24'd0; f_taken <= live ? f_taken_next : 24'd0; end
    always @* begin
        if (!f_past) assume (!live);
        if (!f_live) assume (rst);
        if (f_rst && !rst) assume (f_live && f_reset && quiet);
        if (m_axi_rvalid) assume (f_owed != 0);
        assume (f_taken_next <= f_owed_next && (f_taken_next == 0) == (f_owed_next == 0));
    end

    // The handshake: an offer stays unchanged until it is accepted, also in a soft reset; no offer after a reset; no burst
    // crosses 4 KiB.
    reg [71:0] f_was;
    reg f_waits = 0;
    always @(posedge ap_clk) begin
        f_was <= {m_axi_araddr, m_axi_arlen}; f_waits <= m_axi_arvalid && !m_axi_arready && live;
    end
    always @* if (f_past) begin
        if (f_waits) assert (m_axi_arvalid && f_was == {m_axi_araddr, m_axi_arlen});
        if (!f_live) assert (!m_axi_arvalid && bursts_open == 0 && quiet);
        if (reset) assert (!m_axi_arvalid && bursts_open == 0);
        if (channel_valid) assert ({8'd0, channel_beat[7:0] & (4096 / `BYTES - 1)} + channel_len + 1 <= 4096 / `BYTES || `BYTES < 16);
        if (channel_valid) assert ({8'd0, channel_beat[7:0]} + channel_len + 1 <= 256 || `BYTES >= 16);
        if (channel_second) assert ({8'd0, channel_second_beat[7:0] & (4096 / `BYTES - 1)} + channel_second_len + 1 <= 4096 / `BYTES || `BYTES < 16);
        if (channel_second) assert ({8'd0, channel_second_beat[7:0]} + channel_second_len + 1 <= 256 || `BYTES >= 16);
        assert (m_axi_rready);
        // Counted from the first cycle of the offer until the last beat.
        assert (bursts_open == f_taken + (address_waits ? 24'd1 : 24'd0) && (!address_waits || channel_valid));
    end

    // The two-place queue of the channel returns each entry once and in order; a soft reset drops an address in the
    // second place.
    reg [1:0] f_q_count = 0;
    reg [71:0] f_q_first, f_q_next;
    always @(posedge ap_clk) begin
        if (reset || !live) f_q_count <= 0;
        else if (ends_bursts) f_q_count <= f_q_count != 0 && !f_ar;
        else f_q_count <= f_q_count + channel_load - f_ar;
        if (f_q_count == 0 || f_ar) f_q_first <= f_q_count == 2 ? f_q_next : {seg_beat, seg_len};
        if (f_q_count != 2) f_q_next <= {seg_beat, seg_len};
    end
    always @* if (f_past && f_live) begin
        assert (!channel_load || f_q_count != 2);
        assert (f_q_count == channel_valid + channel_second && (channel_valid || !channel_second));
        if (channel_valid) assert (f_q_first == {channel_beat, channel_len});
        if (channel_second) assert (f_q_next == {channel_second_beat, channel_second_len});
    end

    // Flags in registers are what they stand for.
    always @* if (f_past) begin
        assert (some_open == (bursts_open != 0));
        if (seg_valid && !reset) assert (seg_last == (seg_left <= seg_space));
        if (!reset) assert (desc_full == (desc_count == `AHEAD));
        if (!reset) assert ((desc_some || desc_head == desc_tail) && (beats_some || beats_head == beats_tail));
    end
    // Items in the memories of the FIFOs.
    wire [`AT:0] desc_stored = {desc_some && desc_tail == desc_head, desc_tail - desc_head};
    wire [`AT:0] beats_stored = {beats_some && beats_tail == beats_head, beats_tail - beats_head};

    // Every requested beat has space in the FIFO: it waits in the queue of the channel or in the memory, or has
    // arrived.
    reg [`AT+1:0] f_asked = 0;
    wire [`AT+1:0] f_offered = (channel_valid ? channel_len + 9'd1 : 9'd0) + (channel_second ? channel_second_len + 9'd1 : 9'd0);
    wire [`AT+1:0] f_loaded = channel_load ? seg_len + 9'd1 : 9'd0;
    always @(posedge ap_clk) f_asked <= reset ? 0 : f_asked + f_loaded - beat_taken;
    // Those among them that have not arrived, and those that have.
    reg [`AT+1:0] f_missing = 0, f_arrived = 0;
    always @(posedge ap_clk) begin
        f_missing <= reset ? 0 : f_missing + f_loaded - f_r;
        f_arrived <= reset ? 0 : f_arrived + f_r - beat_taken;
    end
    always @* if (f_past) begin
        assert (f_taken <= f_owed && (f_taken == 0) == (f_owed == 0));
        if (!reset) begin
            assert (beat_space <= `AHEAD && beats_stored <= `AHEAD && f_owed <= `AHEAD);
            assert (beat_space + f_asked == `AHEAD && f_asked <= `AHEAD);
            // A soft reset drops an address.
            assert (f_missing == f_offered + f_owed[`AT+1:0] || rst && f_missing > f_offered + f_owed[`AT+1:0]);
            assert (f_arrived == beats_stored + beats_valid);
            assert (f_asked == f_missing + f_arrived && f_missing <= `AHEAD);
            if (m_axi_rvalid) assert (beats_stored < `AHEAD);
            assert (desc_count == desc_stored + desc_valid + desc_slice_valid && desc_count <= `AHEAD && desc_stored <= `AHEAD);
        end
    end

    // The FIFO returns each beat once, in order, unchanged: for any place, the beat stored there, also at the head.
    (* anyconst *) reg [`AT-1:0] f_at;
    reg f_in = 0, f_head = 0;
    reg [8*`BYTES-1:0] f_data;
    wire [`AT-1:0] f_place = f_at - beats_head;
    always @(posedge ap_clk) if (reset) begin
        f_in <= 0; f_head <= 0;
    end else begin
        if (beats_fetch && beats_head == f_at) f_in <= 0;
        if (beats_push && beats_tail == f_at) begin f_in <= 1; f_data <= m_axi_rdata; end
        if (beats_fetch) f_head <= beats_head == f_at; else if (beat_taken) f_head <= 0;
    end
    always @* if (f_past && !rst) begin
        assert (f_in == ({1'b0, f_place} < beats_stored));
        if (f_in) assert (beats_mem[f_at] == f_data);
        if (f_head) assert (beats_valid);
        if (f_head && !f_in) assert (beats_item == f_data);
        assert (beats_push == f_r);
    end

`include "bounds.v"
    always @* if (f_past) cover (`LOADED);
