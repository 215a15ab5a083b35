    // Properties of templates::axi::address, inserted into reader and writer: every burst touches only words with a byte
    // of the array [base, base + EXTENT), whatever the registers hold. Macros: BYTES of a beat, ELEMENT (bytes), ELEMENTS of
    // a row at most, BASE (as its register holds it), SUM (BASE + x), ALIGNED (bytes: the base is a multiple of them), EXTENT (bytes of the
    // array, at most the length that the host gives), LENGTH (the port of that length, if there is one), IDLE (nothing is
    // under way), TRIMS and ROW (properties of the trim stages and of the row stage).
    //
    // Assumed: the base is a multiple of ALIGNED bytes, the array does not end behind 2^64; a run starts when nothing is
    // under way (the core's `done`).
    localparam F_LOW = $clog2(`BYTES);
    // The base plus x. No bits are added that are 0 in the base: yices 2.6.5 has wrong sums there.
    function [64:0] f_sum(input [64:0] x);
        f_sum = `SUM;
    endfunction
    wire [64:0] f_end = f_sum(`EXTENT);
    always @* begin
        assume (f_end + 65'd8192 < {1'b1, 64'd0} && `BASE % `ALIGNED == 0);
        if (start) assume (`IDLE && !rst);
    end
    function f_inside(input [63-F_LOW:0] beat, input [63:0] more);
        f_inside = {1'b0, beat, {F_LOW{1'b0}}} + `BYTES > {1'b0, `BASE}
            && {1'b0, beat, {F_LOW{1'b0}}} + more * `BYTES < f_end;
    endfunction
`ifdef LENGTH
    // The length that counts is the one that the host gave at the start.
    reg [`LENGTH_BITS-1:0] f_given;
    reg [`LENGTH_LOW:0] f_held;
    reg f_known = 0, f_start = 0;
    always @(posedge ap_clk) begin f_known <= 1; f_start <= start; f_given <= `LENGTH; f_held <= `LENGTH_HELD; end
    always @* if (f_known) assert (`LENGTH_HELD == (f_start ? {|(f_given >> `LENGTH_LOW), f_given[`LENGTH_LOW-1:0]} : f_held));
`endif
    wire [64:0] f_row_bytes = (row_to - row_from + 64'd1) * `ELEMENT;
    wire [64:0] f_row_address = f_sum(row_offset);
    always @* if (f_past && !reset) begin
        `TRIMS
        if (row_valid && row_any) assert (row_from <= row_to && row_offset + f_row_bytes <= `EXTENT);
        if (row_valid && row_any) assert (row_from % (`BYTES / `ELEMENT) == f_row_address[11:0] / `ELEMENT % (`BYTES / `ELEMENT));
        if (seg_valid) assert (f_inside(seg_beat, seg_left));
        if (channel_valid) assert (f_inside(channel_beat, channel_len));
        if (channel_second) assert (f_inside(channel_second_beat, channel_second_len));
    end
