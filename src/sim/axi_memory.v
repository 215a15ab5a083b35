// AXI4 memory model for simulation: one port, one or several arrays, each in a region with guard bytes around it.
//
// Timing is exact and the same in every engine of sagen. Local time runs from the first cycle with a request.
// The memory serves the bursts of reads, and those of writes, one after the other. A burst of n beats occupies it for
// n times the cycles of a beat (which are parts of 65536), at least for the cycles of the shortest burst. A read burst is
// served after the latency, and its beats end with the last of these cycles. Beats of writes are accepted at once; the
// response comes the latency after the burst is served. The input `board` says all this, for a memory of the board.
// With `+latency=N` every beat takes one cycle; `+ideal` is `+latency=16`.
// With `+ddr=SEED` it is 40, 100 of every 4000 cycles are dead, each channel stalls one cycle in eight, by a xorshift
// generator, and rows of 8 KiB in 16 banks are opened one at a time, in 12 cycles, while data of earlier bursts passes.
// Breaches of the protocol and accesses beside the array are counted in faults and reported.
//
// With JUDGE, EXPECTED holds what the memory should be at the end. Two cycles after `dump` the outputs `wrong*` say how
// many elements differ, and which is the first: elements are numbered from 0 in their region.
`default_nettype none
module axi_memory #(
    parameter BYTES = 4,              // of one beat
    parameter REGIONS = 1,            // per region 64 bits of the next four, the first region's lowest:
    parameter [64*REGIONS-1:0] START = 0,   // address of its first byte, a multiple of BYTES
    parameter [64*REGIONS-1:0] STOP = 0,    // address after its last byte
    parameter [64*REGIONS-1:0] FIRST = 0,   // address of its array's first byte
    parameter [64*REGIONS-1:0] BEYOND = 0,  // address after that array's last byte
    parameter WORDS = 1,              // of all regions, which lie one behind the other in the files
    parameter PORT = 0,               // its number: every port stalls in its own way
    parameter INPUT = "in.hex",       // contents before, one word a line
    parameter OUTPUT = "out.hex",     // contents when dump is 1
    parameter JUDGE = 0,
    parameter EXPECTED = "expected.hex",    // as INPUT
    // Per region, as above: bytes of an element; its bits of exponent and of fraction, 0 if it is no float; 1 if its
    // contents mean nothing.
    parameter [64*REGIONS-1:0] ELEMENT = 0,
    parameter [64*REGIONS-1:0] EXPONENT = 0,
    parameter [64*REGIONS-1:0] FRACTION = 0,
    parameter [64*REGIONS-1:0] SCRATCH = 0
) (
    input wire aclk,
    input wire aresetn,
    input wire dump,
    // Latency; a beat and the shortest burst of reads, and of writes: 32 bits each, the last one lowest.
    input wire [159:0] board,
    output reg [31:0] faults,
    output reg [63:0] wrong,          // elements
    output reg [31:0] wrong_region,
    output reg [63:0] wrong_element,
    output reg [63:0] wrong_is,
    output reg [63:0] wrong_should_be,
    output reg [63:0] overwritten,    // bytes beside the arrays
    input wire [0:0] arid,
    input wire [63:0] araddr,
    input wire [7:0] arlen,
    input wire [2:0] arsize,
    input wire [1:0] arburst,
    input wire arvalid,
    output wire arready,
    output reg [0:0] rid,
    output reg [8*BYTES-1:0] rdata,
    output wire [1:0] rresp,
    output reg rlast,
    output reg rvalid,
    input wire rready,
    input wire [0:0] awid,
    input wire [63:0] awaddr,
    input wire [7:0] awlen,
    input wire [2:0] awsize,
    input wire [1:0] awburst,
    input wire awvalid,
    output wire awready,
    input wire [8*BYTES-1:0] wdata,
    input wire [BYTES-1:0] wstrb,
    input wire wlast,
    input wire wvalid,
    output wire wready,
    output reg [0:0] bid,
    output wire [1:0] bresp,
    output reg bvalid,
    input wire bready
);
    localparam QUEUE = 4096;          // bursts of reads
    localparam WRITES = 65536;        // bursts of writes
    localparam OPENING = 12;          // cycles in which a row opens

    reg [8*BYTES-1:0] mem [0:WORDS-1];
    initial $readmemh(INPUT, mem);
    reg [8*BYTES-1:0] wanted [0:JUDGE ? WORDS-1 : 0];
    initial if (JUDGE) $readmemh(EXPECTED, wanted);

    // The timing that this run asks for.
    reg ddr, fixed;
    reg [31:0] near, seed;
    initial begin
        ddr = $value$plusargs("ddr=%d", seed);
        seed = seed * 32'd2654435761 + (PORT + 1) * 32'h9e3779b9;
        if (!ddr || seed == 0) seed = 1;
        near = 16;
        fixed = ddr || $test$plusargs("ideal") != 0 || $value$plusargs("latency=%d", near) != 0;
        if (ddr) near = 40;
    end

    wire [31:0] latency = fixed ? near : board[159:128];
    wire [31:0] read_beat_time = fixed ? 65536 : board[127:96];
    wire [31:0] read_least = fixed ? 1 : board[95:64];
    wire [31:0] write_beat_time = fixed ? 65536 : board[63:32];
    wire [31:0] write_least = fixed ? 1 : board[31:0];

    // Cycles for which a burst occupies the memory.
    function [63:0] occupied(input [8:0] beats, input [31:0] beat_time, input [31:0] least);
        begin
            occupied = ({55'd0, beats} * beat_time + 65535) / 65536;
            if (occupied < least) occupied = least;
        end
    endfunction

    // The word of mem at an address; WORDS where there is none.
    function [63:0] place(input [63:0] address);
        integer r;
        reg [63:0] skipped;
        begin
            place = WORDS;
            skipped = 0;
            for (r = 0; r < REGIONS; r = r + 1) begin
                if (address >= START[64*r +: 64] && address < STOP[64*r +: 64])
                    place = skipped + (address - START[64*r +: 64]) / BYTES;
                skipped = skipped + (STOP[64*r +: 64] - START[64*r +: 64]) / BYTES;
            end
        end
    endfunction

    // Addresses low and beyond lie around bytes of one array.
    function touches(input [63:0] low, input [63:0] beyond);
        integer r;
        begin
            touches = 0;
            for (r = 0; r < REGIONS; r = r + 1)
                if (beyond > FIRST[64*r +: 64] && low < BEYOND[64*r +: 64]) touches = 1;
        end
    endfunction

    // What the ready signals depend on is assigned without blocking, so that both sides of a handshake see one value.
    reg started;
    reg write_begun;                  // a write burst with data missing is accepted
    reg [11:0] phase;
    reg [31:0] x;
    reg [63:0] t;
    reg [31:0] x1, x2;
    reg crowded;                      // four rows wait: no burst is accepted
    reg [63:0] open_row [0:15];       // by bank, plus 1; 0 is none
    reg [63:0] busy;                  // when the last row that was asked for is open
    reg [63:0] read_free, write_free; // when the next burst can be served

    // Accepted read bursts; read_beat counts within the oldest.
    reg [63:0] read_addr [0:QUEUE-1];
    reg [63:0] read_due [0:QUEUE-1];
    reg [7:0] read_len [0:QUEUE-1];
    reg read_id [0:QUEUE-1];
    reg [11:0] read_in, read_out;
    reg [12:0] read_count;
    reg [7:0] read_beat;

    // Accepted write bursts up to write_in; those before write_at have all their data; those before write_out a response.
    reg [63:0] write_addr [0:WRITES-1];
    reg [63:0] write_due [0:WRITES-1];
    reg [7:0] write_len [0:WRITES-1];
    reg write_id [0:WRITES-1];
    reg [15:0] write_in, write_at, write_out;
    reg [16:0] write_open;            // with data missing
    reg [16:0] write_done;            // with response missing
    reg [7:0] write_beat;

    wire now = started || arvalid || awvalid;
    wire dead = ddr && phase >= 3900;
    wire stall_ar = ddr && (dead || crowded || x[2:0] == 0);
    wire stall_r = ddr && (dead || x[5:3] == 0);
    wire stall_aw = ddr && (dead || crowded || x[8:6] == 0);
    wire stall_w = ddr && (dead || x[11:9] == 0);
    wire stall_b = ddr && (dead || x[14:12] == 0);

    assign arready = aresetn && !stall_ar;
    assign awready = aresetn && !stall_aw;
    assign wready = aresetn && !stall_w && (write_begun || (awvalid && awready));
    assign rresp = 2'b00;
    assign bresp = 2'b00;

    // Requests of the cycle before that were not taken: they must stand unchanged.
    reg ar_waits, aw_waits, w_waits;
    reg [74:0] ar_was, aw_was;
    reg [9*BYTES:0] w_was;
    wire [74:0] ar_is = {arid, araddr, arlen, arburst};
    wire [74:0] aw_is = {awid, awaddr, awlen, awburst};
    wire [9*BYTES:0] w_is = {wlast, wstrb, wdata};

    task fault(input [8*24-1:0] what);
        begin
            faults = faults + 1;
            if (faults <= 10) $display("FAULT %m cycle %0d: %0s", t, what);
        end
    endtask

    task check_burst(input [63:0] addr, input [7:0] len, input [2:0] size, input [1:0] burst);
        reg [63:0] low, high;
        begin
            low = addr / BYTES * BYTES;
            high = low + (len + 64'd1) * BYTES;
            if ((64'd1 << size) != BYTES) fault("beat is not full width");
            if (burst != 2'b01) fault("burst is not INCR");
            if (low / 4096 != (high - 1) / 4096) fault("burst crosses 4 KiB");
            // The first beat reaches the array's beginning, the last one begins before its end.
            if (!touches(high - BYTES, low + BYTES)) fault("beat beside the array");
        end
    endtask

    // When the row of a burst is open that is accepted now.
    task open(input [63:0] addr, output [63:0] when);
        begin
            when = busy > t ? busy : t;
            if (!ddr) when = t;
            else if (open_row[addr[16:13]] != (addr >> 13) + 1) begin
                open_row[addr[16:13]] = (addr >> 13) + 1;
                when = when + OPENING;
                busy = when;
            end
        end
    endtask

    // Not a number: the exponent is all ones, the fraction is not 0.
    function nan(input [63:0] bits, input integer exponent, input integer fraction);
        reg [63:0] low;
        begin
            low = (64'd1 << fraction) - 1;
            nan = exponent != 0 && ((bits >> fraction) & ((64'd1 << exponent) - 1)) == (64'd1 << exponent) - 1
                && (bits & low) != 0;
        end
    endfunction

    // Compares the memory with what it should be.
    task judge;
        integer r, size, b;
        reg [63:0] w, address, mask, is, should_be;
        reg [8*BYTES+63:0] word_is, word_should_be;
        begin
            wrong = 0; wrong_region = 0; wrong_element = 0; wrong_is = 0; wrong_should_be = 0; overwritten = 0;
            w = 0;
            for (r = 0; r < REGIONS; r = r + 1) begin
                size = ELEMENT[64*r +: 64];
                mask = ~64'd0 >> (64 - 8 * size);
                for (address = START[64*r +: 64]; address < STOP[64*r +: 64]; address = address + BYTES) begin
                    word_is = mem[w];
                    word_should_be = wanted[w];
                    if (word_is !== word_should_be)
                        for (b = 0; b < BYTES; b = b + size) begin
                            is = word_is[8*b +: 64] & mask;
                            should_be = word_should_be[8*b +: 64] & mask;
                            if (is === should_be) ;
                            else if (address + b < FIRST[64*r +: 64] || address + b >= BEYOND[64*r +: 64])
                                overwritten = overwritten + size;
                            else if (SCRATCH[64*r +: 64] == 0
                                && !(nan(is, EXPONENT[64*r +: 64], FRACTION[64*r +: 64])
                                    && nan(should_be, EXPONENT[64*r +: 64], FRACTION[64*r +: 64]))) begin
                                if (wrong == 0) begin
                                    wrong_region = r;
                                    wrong_element = (address + b - FIRST[64*r +: 64]) / size;
                                    wrong_is = is;
                                    wrong_should_be = should_be;
                                end
                                wrong = wrong + 1;
                            end
                        end
                    w = w + 1;
                end
            end
        end
    endtask

    integer k;
    reg [63:0] at, word;
    always @(posedge aclk) begin
        if (!aresetn) begin
            started <= 0; t = 0; phase <= 0; x <= seed; write_begun <= 0; crowded <= 0; busy = 0; read_free = 0; write_free = 0;
            for (k = 0; k < 16; k = k + 1) open_row[k] = 0;
            read_in = 0; read_out = 0; read_count = 0; read_beat = 0;
            write_in = 0; write_at = 0; write_out = 0; write_open = 0; write_done = 0; write_beat = 0;
            rvalid <= 0; bvalid <= 0; rlast <= 0; rid <= 0; bid <= 0;
            ar_waits <= 0; aw_waits <= 0; w_waits <= 0; faults = 0;
        end else begin
            if ((^{arvalid, awvalid, wvalid, rready, bready}) === 1'bx) fault("handshake is unknown");
            if (ar_waits && !(arvalid && ar_is == ar_was)) fault("AR changed while waiting");
            if (aw_waits && !(awvalid && aw_is == aw_was)) fault("AW changed while waiting");
            if (w_waits && !(wvalid && w_is === w_was)) fault("W changed while waiting");
            ar_waits <= arvalid && !arready; ar_was <= ar_is;
            aw_waits <= awvalid && !awready; aw_was <= aw_is;
            w_waits <= wvalid && !wready; w_was <= w_is;

            if (arvalid && arready) begin
                check_burst(araddr, arlen, arsize, arburst);
                if (read_count == QUEUE) fault("too many reads");
                read_addr[read_in] = araddr / BYTES * BYTES; read_len[read_in] = arlen;
                open(araddr, at);
                at = at + latency;
                read_free = (at > read_free ? at : read_free) + occupied(arlen + 9'd1, read_beat_time, read_least);
                read_due[read_in] = read_free - arlen - 1; read_id[read_in] = arid;
                read_in = read_in + 1; read_count = read_count + 1;
            end
            if (awvalid && awready) begin
                check_burst(awaddr, awlen, awsize, awburst);
                if (write_open + write_done >= WRITES) fault("too many writes");
                write_addr[write_in] = awaddr / BYTES * BYTES; write_len[write_in] = awlen;
                write_id[write_in] = awid;
                open(awaddr, at);
                write_due[write_in] = at;
                write_in = write_in + 1; write_open = write_open + 1;
            end
            if (wvalid && wready) begin
                if (write_beat == 0 && write_due[write_at] < t) write_due[write_at] = t;
                at = write_addr[write_at] + write_beat * BYTES;
                word = place(at);
                if (wlast !== (write_beat == write_len[write_at])) fault("WLAST is wrong");
                for (k = 0; k < BYTES; k = k + 1)
                    if (wstrb[k]) begin
                        if (!touches(at + k, at + k + 1)) fault("write beside the array");
                        if (word != WORDS) mem[word][8*k +: 8] = wdata[8*k +: 8];
                    end
                if (write_beat == write_len[write_at]) begin
                    at = write_due[write_at];
                    if (!fixed) begin
                        if (at < write_free) at = write_free;
                        at = at + occupied(write_len[write_at] + 9'd1, write_beat_time, write_least) - 1;
                    end
                    if (at < t) at = t;
                    write_free = at + 1;
                    write_due[write_at] = at + latency;
                    write_at = write_at + 1; write_beat = 0;
                    write_open = write_open - 1; write_done = write_done + 1;
                end else write_beat = write_beat + 1;
            end
            if (!rvalid || rready) begin
                rvalid <= 0;
                if (read_count != 0 && t + 1 >= read_due[read_out] && !stall_r) begin
                    word = place(read_addr[read_out] + read_beat * BYTES);
                    rvalid <= 1;
                    rid <= read_id[read_out];
                    rdata <= word != WORDS ? mem[word] : 0;
                    rlast <= read_beat == read_len[read_out];
                    if (read_beat == read_len[read_out]) begin
                        read_beat = 0; read_out = read_out + 1; read_count = read_count - 1;
                    end else read_beat = read_beat + 1;
                end
            end
            if (!bvalid || bready) begin
                bvalid <= 0;
                if (write_done != 0 && t + 1 >= write_due[write_out] && !stall_b) begin
                    bvalid <= 1;
                    bid <= write_id[write_out];
                    write_out = write_out + 1; write_done = write_done - 1;
                end
            end
            if (now) begin
                started <= 1;
                t = t + 1;
                phase <= phase == 3999 ? 0 : phase + 1;
                x1 = x ^ (x << 13);
                x2 = x1 ^ (x1 >> 17);
                x <= x2 ^ (x2 << 5);
            end
            crowded <= busy > t + 4 * OPENING;
            write_begun <= write_open != 0;
        end
        if (dump) begin
            $writememh(OUTPUT, mem);
            if (JUDGE) judge;
        end
    end
endmodule
`default_nettype wire
