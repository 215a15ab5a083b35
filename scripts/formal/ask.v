    // A channel `C` from the engine to the memory over the stations of a way. By stations.py: BITS of an item; PLACES,
    // and AT bits to number twice as many; GIVEN, the item at the engine; HELD, 1 for each register on the way that holds an item, the newest lowest;
    // BACK, the same of `taken`; LAST, the prefix of the last station.
    wire f_C_in = s0_s_axi_Cvalid && s0_s_axi_Cready;
    wire f_C_out = LAST_m_axi_Cvalid && LAST_m_axi_Cready;
    wire [BITS-1:0] f_C_given = GIVEN;
    // Items are numbered; one of them is watched.
    (* anyconst *) reg [AT-1:0] f_C_which;
    reg [BITS-1:0] f_C_item;
    reg [AT-1:0] f_C_ins = 0, f_C_outs = 0;
    always @(posedge ap_clk) begin
        f_C_ins <= live ? f_C_ins + f_C_in : 0; f_C_outs <= live ? f_C_outs + f_C_out : 0;
        if (f_C_in && f_C_ins == f_C_which) f_C_item <= f_C_given;
    end
    wire [AT-1:0] f_C_fill = LAST_C_fifo_some && LAST_C_fifo_tail == LAST_C_fifo_head ? PLACES
        : LAST_C_fifo_tail - LAST_C_fifo_head & PLACES - 1;
    wire [AT-1:0] f_C_flying = HELD;
    wire [AT-1:0] f_C_newest = f_C_ins - f_C_flying - 1'd1;     // of those in the FIFO
    reg f_C_waits = 0;
    reg [BITS-1:0] f_C_was;
    always @(posedge ap_clk) begin
        f_C_waits <= LAST_m_axi_Cvalid && !LAST_m_axi_Cready && live; f_C_was <= LAST_C_fifo_item;
    end
    always @* if (f_past) begin
        // What is offered stays until it is taken; nothing is offered after a reset.
        if (f_C_waits) assert (LAST_m_axi_Cvalid && f_C_was == LAST_C_fifo_item);
        if (!f_live) assert (!LAST_m_axi_Cvalid && f_C_ins == 0 && f_C_outs == 0);
        // Each item has its place, and none is lost or doubled.
        assert (8'd0 + s0_C_left + f_C_flying + f_C_fill + LAST_C_fifo_valid + BACK == PLACES && s0_C_some == (s0_C_left != 0));
        assert (f_C_outs + f_C_flying + f_C_fill + LAST_C_fifo_valid == f_C_ins);
        assert (LAST_C_fifo_some || LAST_C_fifo_tail == LAST_C_fifo_head);
        // The watched item is as it was given, wherever it is.
        if (LAST_C_fifo_valid && f_C_outs == f_C_which) assert (LAST_C_fifo_item == f_C_item);
    end
