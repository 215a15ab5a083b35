// Passive AXI checkers for simulation. They sample at the rising clock edge, print every broken rule and count it.
//
// axi_rules     one AXI4 manager (read and write channels): what the manager drives must be legal
// axil_rules    one AXI4-Lite subordinate: what the subordinate drives must be legal
//
// A reset is one of the whole bus: bursts are forgotten, and no VALID may be high when it ends.
//
// Rules: AMBA AXI protocol specification, IHI 0022, sections A3.1 (reset), A3.2 (handshake, stability), A3.4.1 (bursts,
// 4 KiB boundary), A3.4.3 (strobes). Tie a missing channel's inputs to zero.
`timescale 1ns / 1ps
`default_nettype none

module axi_rules #(
    parameter NAME   = "m_axi",
    parameter ADDR_W = 64,      // address width, bits
    parameter DATA_W = 32,      // data width, bits: 8 to 1024, a power of two
    parameter ID_W   = 1        // ID width, bits
) (
    input  wire                aclk,
    input  wire                aresetn,
    input  wire                garbage,     // written data may be undefined
    input  wire                quiet,       // rises when the IP reports completion; no burst may be open then
    input  wire [ID_W-1:0]     awid,
    input  wire [ADDR_W-1:0]   awaddr,
    input  wire [7:0]          awlen,
    input  wire [2:0]          awsize,
    input  wire [1:0]          awburst,
    input  wire [31:0]         awother,     // lock, cache, prot, qos, region: must be stable as well
    input  wire                awvalid,
    input  wire                awready,
    input  wire [DATA_W-1:0]   wdata,
    input  wire [DATA_W/8-1:0] wstrb,
    input  wire                wlast,
    input  wire                wvalid,
    input  wire                wready,
    input  wire                bvalid,
    input  wire                bready,
    input  wire [ID_W-1:0]     arid,
    input  wire [ADDR_W-1:0]   araddr,
    input  wire [7:0]          arlen,
    input  wire [2:0]          arsize,
    input  wire [1:0]          arburst,
    input  wire [31:0]         arother,
    input  wire                arvalid,
    input  wire                arready,
    input  wire                rlast,
    input  wire                rvalid,
    input  wire                rready,
    output reg  [31:0]         errors,
    output reg  [31:0]         write_bursts,
    output reg  [31:0]         write_beats,
    output reg  [31:0]         read_bursts,
    output reg  [31:0]         read_beats
);
    localparam BYTES = DATA_W / 8;
    localparam DEPTH = 256;             // write bursts that may be open

    integer cycle, i;
    reg was_reset, was_quiet;
    reg aw_stalled, w_stalled, ar_stalled;
    reg [ID_W+ADDR_W+44:0] aw_held, ar_held;
    reg [DATA_W+DATA_W/8:0] w_held;
    wire [ID_W+ADDR_W+44:0] aw_now = {awid, awaddr, awlen, awsize, awburst, awother};
    wire [ID_W+ADDR_W+44:0] ar_now = {arid, araddr, arlen, arsize, arburst, arother};
    wire [DATA_W+DATA_W/8:0] w_now = {wdata, wstrb, wlast};

    // Accepted write addresses and their data bursts, in order.
    reg [ADDR_W-1:0] burst_addr [0:DEPTH-1];
    reg [7:0] burst_len [0:DEPTH-1];
    reg [2:0] burst_size [0:DEPTH-1];
    reg [1:0] burst_type [0:DEPTH-1];
    reg [8:0] early_beats [0:DEPTH-1];  // beats of a data burst that ended before its address came
    integer aw_count, w_count, b_count, ar_count, r_count, beat;
    reg [ADDR_W-1:0] beat_addr;
    integer low, high, wrap_bytes;

    task fail(input [8*64-1:0] rule);
        begin
            errors = errors + 1;
            $display("axi_rules: %0s: %0s (cycle %0d)", NAME, rule, cycle);
        end
    endtask

    // Legality of an address beat.
    task address(input [ADDR_W-1:0] addr, input [7:0] len, input [2:0] size, input [1:0] burst);
        reg [16:0] last;
        begin
            if ((1 << size) > BYTES) fail("size exceeds the data width");
            last = {5'd0, (addr[11:0] >> size) << size} + ((17'd1 + {9'd0, len}) << size) - 17'd1;
            case (burst)
                2'b00: if (len > 8'd15) fail("FIXED burst longer than 16 beats");
                2'b01: if (last > 17'd4095) fail("burst crosses a 4 KiB boundary");
                2'b10: begin
                    if (len != 8'd1 && len != 8'd3 && len != 8'd7 && len != 8'd15) fail("WRAP burst of illegal length");
                    if (((addr >> size) << size) != addr) fail("WRAP burst from an unaligned address");
                end
                default: fail("reserved burst type");
            endcase
        end
    endtask

    // Legality of one data beat whose address is known.
    task data_beat(input integer slot, input integer n);
        begin
            if (wlast && n != burst_len[slot]) fail("WLAST before the last beat");
            if (!wlast && n >= burst_len[slot]) fail("WLAST missing at the last beat");
            beat_addr = burst_addr[slot];
            if (burst_type[slot] != 2'b00 && n > 0)
                beat_addr = ((beat_addr >> burst_size[slot]) << burst_size[slot]) + (n << burst_size[slot]);
            if (burst_type[slot] == 2'b10) begin
                wrap_bytes = (burst_len[slot] + 1) << burst_size[slot];
                if (beat_addr / wrap_bytes != burst_addr[slot] / wrap_bytes) beat_addr = beat_addr - wrap_bytes;
            end
            low = beat_addr % BYTES;
            high = ((low >> burst_size[slot]) << burst_size[slot]) + (1 << burst_size[slot]) - 1;
            for (i = 0; i < BYTES; i = i + 1)
                if (wstrb[i] && (i < low || i > high)) begin
                    fail("WSTRB set for a lane outside the beat");
                    i = BYTES;
                end
        end
    endtask

    initial begin
        {errors, write_bursts, write_beats, read_bursts, read_beats} = 0;
        {cycle, aw_count, w_count, b_count, ar_count, r_count, beat} = 0;
        {aw_stalled, w_stalled, ar_stalled, was_quiet} = 0;
        was_reset = 1'b0;
    end

    always @(posedge aclk) begin
        cycle = cycle + 1;
        if (aresetn !== 1'b1) begin
            if (was_reset && (awvalid === 1'b1 || wvalid === 1'b1 || arvalid === 1'b1)) fail("VALID high in reset");
            {aw_stalled, w_stalled, ar_stalled, was_quiet} = 0;
            {aw_count, w_count, b_count, ar_count, r_count, beat} = 0;
            was_reset = 1'b1;
        end else begin
            if (was_reset && (awvalid !== 1'b0 || wvalid !== 1'b0 || arvalid !== 1'b0)) fail("VALID high when a reset ends");
            was_reset = 1'b0;
            if ((^{awvalid, wvalid, arvalid, bready, rready}) === 1'bx) fail("X on VALID or READY");
            if (awvalid === 1'b1 && (^aw_now) === 1'bx) fail("X in a write address");
            if (wvalid === 1'b1 && (^{wstrb, wlast}) === 1'bx) fail("X in WSTRB or WLAST");
            if (arvalid === 1'b1 && (^ar_now) === 1'bx) fail("X in a read address");
            for (i = 0; i < BYTES; i = i + 1)
                if (!garbage && wvalid === 1'b1 && wstrb[i] === 1'b1 && (^wdata[8*i +: 8]) === 1'bx) fail("X in written data");

            if (aw_stalled && !awvalid) fail("AWVALID dropped before AWREADY");
            else if (aw_stalled && aw_now !== aw_held) fail("write address changed while stalled");
            if (w_stalled && !wvalid) fail("WVALID dropped before WREADY");
            else if (w_stalled && w_now !== w_held) fail("write data changed while stalled");
            if (ar_stalled && !arvalid) fail("ARVALID dropped before ARREADY");
            else if (ar_stalled && ar_now !== ar_held) fail("read address changed while stalled");
            aw_stalled = awvalid && !awready;
            w_stalled = wvalid && !wready;
            ar_stalled = arvalid && !arready;
            aw_held = aw_now;
            w_held = w_now;
            ar_held = ar_now;

            if (awvalid && awready) begin
                address(awaddr, awlen, awsize, awburst);
                burst_addr[aw_count % DEPTH] = awaddr;
                burst_len[aw_count % DEPTH] = awlen;
                burst_size[aw_count % DEPTH] = awsize;
                burst_type[aw_count % DEPTH] = awburst;
                if (w_count > aw_count && early_beats[aw_count % DEPTH] != {1'b0, awlen} + 9'd1)
                    fail("WLAST position does not match AWLEN");
                if (w_count == aw_count && beat > {24'd0, awlen}) fail("more data beats than AWLEN allows");
                aw_count = aw_count + 1;
                write_bursts = write_bursts + 1;
                if (aw_count - b_count > DEPTH) fail("more open writes than the checker can follow");
            end
            if (wvalid && wready) begin
                write_beats = write_beats + 1;
                if (w_count < aw_count) data_beat(w_count % DEPTH, beat);
                else if (beat > 255) fail("more than 256 data beats without WLAST");
                beat = beat + 1;
                if (wlast) begin
                    early_beats[w_count % DEPTH] = beat;
                    w_count = w_count + 1;
                    beat = 0;
                end
            end
            if (arvalid && arready) begin
                address(araddr, arlen, arsize, arburst);
                ar_count = ar_count + 1;
                read_bursts = read_bursts + 1;
            end
        end
        if (aresetn === 1'b1 && bvalid === 1'b1 && bready === 1'b1) begin
            b_count = b_count + 1;
            if (b_count > aw_count || b_count > w_count) fail("write response without a finished burst");
        end
        if (aresetn === 1'b1 && rvalid === 1'b1 && rready === 1'b1) begin
            read_beats = read_beats + 1;
            if (rlast) r_count = r_count + 1;
            if (r_count > ar_count) fail("read data without an address");
        end
        if (aresetn === 1'b1) begin
            if (quiet && !was_quiet && (awvalid || wvalid || arvalid || beat != 0
                    || aw_count != b_count || w_count != b_count || ar_count != r_count))
                fail("transaction open when completion was reported");
            was_quiet = quiet;
        end
    end
endmodule

module axil_rules #(
    parameter NAME   = "s_axi",
    parameter DATA_W = 32       // data width, bits
) (
    input  wire              aclk,
    input  wire              aresetn,
    input  wire              awvalid,
    input  wire              awready,
    input  wire              wvalid,
    input  wire              wready,
    input  wire [1:0]        bresp,
    input  wire              bvalid,
    input  wire              bready,
    input  wire              arvalid,
    input  wire              arready,
    input  wire [DATA_W-1:0] rdata,
    input  wire [1:0]        rresp,
    input  wire              rvalid,
    input  wire              rready,
    output reg  [31:0]       errors
);
    integer cycle, aw_count, w_count, b_count, ar_count, r_count;
    reg was_reset, b_stalled, r_stalled;
    reg [1:0] b_held;
    reg [DATA_W+1:0] r_held;

    task fail(input [8*64-1:0] rule);
        begin
            errors = errors + 1;
            $display("axi_rules: %0s: %0s (cycle %0d)", NAME, rule, cycle);
        end
    endtask

    initial begin
        {cycle, aw_count, w_count, b_count, ar_count, r_count, errors} = 0;
        {was_reset, b_stalled, r_stalled} = 0;
    end

    always @(posedge aclk) begin
        cycle = cycle + 1;
        if (aresetn !== 1'b1) begin
            if (was_reset && (bvalid === 1'b1 || rvalid === 1'b1)) fail("VALID high in reset");
            {aw_count, w_count, b_count, ar_count, r_count} = 0;
            {b_stalled, r_stalled} = 0;
            was_reset = 1'b1;
        end else begin
            if (was_reset && (bvalid !== 1'b0 || rvalid !== 1'b0)) fail("VALID high when a reset ends");
            was_reset = 1'b0;
            if ((^{awready, wready, bvalid, arready, rvalid}) === 1'bx) fail("X on VALID or READY");
            if (rvalid === 1'b1 && (^{rdata, rresp}) === 1'bx) fail("X in read data");
            if (b_stalled && !bvalid) fail("BVALID dropped before BREADY");
            else if (b_stalled && bresp !== b_held) fail("BRESP changed while stalled");
            if (r_stalled && !rvalid) fail("RVALID dropped before RREADY");
            else if (r_stalled && {rdata, rresp} !== r_held) fail("read data changed while stalled");
            // A response answers beats accepted in earlier cycles.
            if (bvalid && (b_count >= aw_count || b_count >= w_count)) fail("BVALID before address and data were taken");
            if (rvalid && r_count >= ar_count) fail("RVALID before the address was taken");
            b_stalled = bvalid && !bready;
            r_stalled = rvalid && !rready;
            b_held = bresp;
            r_held = {rdata, rresp};
            if (awvalid && awready) aw_count = aw_count + 1;
            if (wvalid && wready) w_count = w_count + 1;
            if (bvalid && bready) b_count = b_count + 1;
            if (arvalid && arready) ar_count = ar_count + 1;
            if (rvalid && rready) r_count = r_count + 1;
        end
    end
endmodule
`default_nettype wire
