//! The cost of the I/O network (`templates::io`), module by module: feeders, collectors, relays.

use array::contract::bands::Bands;
use array::contract::common;
use array::contract::feed::{self, Read, Set};
use array::contract::memory::in_luts;
use array::contract::operand::{live_nodes, travels};
use array::contract::pick;
use array::contract::relay;
use array::contract::relay::Relays;
use array::contract::timing::{answer_latency, collect_time, drain_latency, FEED_LATENCY};
use array::contract::walk::Walk;
use array::resources::{bits_of, line, memory, Device, Resources};
use array::vsa::{Bank, Footprint, InputGroup, Op, OutputGroup, Vsa};
use uniform::affine::interval;
use uniform::affine::Form;

/// Bits of an unsigned counter form; 0 if it does not vary.
fn wave_bits(vsa: &Vsa, form: &Form) -> i64 {
    let (low, high) =
        interval(form.constant, form.counters.iter().zip(&vsa.counters).map(|(&a, c)| (a, 0, c.trip - 1)));
    if low < high {
        bits_of(high as i64 + 1)
    } else {
        0
    }
}

/// Bits of the fields that identify a word of the footprint.
fn fields(footprint: &Footprint) -> i64 {
    let digit = |n: i64| if n > 1 { bits_of(n) } else { 0 };
    footprint.rows.iter().map(|r| digit(r.extent) + digit(r.modulus)).sum::<i64>() + digit(footprint.words)
}

/// LUTs that decide whether a word is the bank's, which stand in this box: comparisons of the fields that do not always
/// fit. `word`: elements of a bus word.
fn hit(bank: &Bank, footprint: &Footprint, word: i64, [first, last]: [[i64; 2]; 2]) -> i64 {
    let window = |extent: i64, values: i64, moves: bool| if moves || extent < values { bits_of(values) + 2 } else { 0 };
    let at = |p0: i64, p1: i64| (bank.base + bank.coef[0] * p0 + bank.coef[1] * p1).div_euclid(word);
    let corners = [at(first[0], first[1]), at(first[0], last[1]), at(last[0], first[1]), at(last[0], last[1])];
    let moves = corners.iter().any(|word| *word != corners[0]);
    let words = window(bank.reach(), footprint.words, moves || bank.stride > 1);
    let rows = bank
        .rows
        .iter()
        .zip(&footprint.rows)
        .map(|(b, h)| window(b.extent, h.extent, b.coef != [0, 0]) + i64::from(h.modulus > 1));
    rows.sum::<i64>() + words + 2
}

/// Rows may end early in `early` dimensions. For each, a bank has a register with the address of the next rows.
fn blocks(early: i64, depth: i64) -> Resources {
    let at = bits_of(depth);
    Resources::logic(2 * at + 2, at) * early
}

/// Dimensions of a group whose rows may end early, which depends on sizes.
fn early(vsa: &Vsa, walk: fn(&Vsa, usize) -> Option<Walk>, array: u32, group: usize, footprint: &Footprint) -> i64 {
    let sized = !vsa.sizes.list.is_empty();
    let walk = sized.then(|| walk(vsa, vsa.port_of(array))).flatten();
    walk.map_or(0, |walk| walk.early(group, footprint).len() as i64)
}

/// LUTs per bit of a multiplexer with this many inputs.
fn choice(inputs: i64) -> i64 {
    (inputs + 1) / 3
}

/// Feeders pass the load stream on and store the elements that their waves read. Those of guests are their owner's.
pub(super) fn feeders(vsa: &Vsa, g: usize) -> Resources {
    if vsa.feeders_of(g) != g {
        return Resources::default();
    }
    let group = &vsa.inputs[g];
    let common::Feeders { groups, banks, double, starts } = common::Feeders::of(vsa, g);
    let members: Vec<&InputGroup> = groups.iter().map(|g| &vsa.inputs[*g]).collect();
    let extent = group.feeders();
    let count: i64 = extent.iter().product();
    let array = &vsa.arrays[group.array as usize];
    let (word, bits) = (i64::from(array.word), i64::from(array.ty.bits()));
    // A sketch has no nodes and no schedule.
    let sketch = vsa.nodes.is_empty();
    let hop =
        (0..2).filter(|&a| extent[a] > 1 && !sketch).map(|a| vsa.schedule.start[a].hop_delay()).max().unwrap_or(0);
    let [row, col] = indices(vsa, &members);
    let choices = i64::from(starts.count_ones());
    let mut one = Resources::ff(8 * i64::from(array.bus_bytes()) + loaded(&members) + i64::from(double));
    one += line(1..=hop, row + col + i64::from(double), vsa.fabric);
    let (_, late) = late(vsa, g);
    let early = early(vsa, Walk::reads, group.array, g, &group.footprint);
    let mut lanes = vec![FEED_LATENCY - 1];
    for set in feed::sets(&banks) {
        let first = &banks[set.banks[0]];
        let elements = i64::from(pick::stored(starts, first.ports, word).count_ones());
        let served = |&b: &usize| {
            let bank = &banks[b];
            (bank.port..bank.port + bank.ports).map(|port| late[port as usize].clone()).collect()
        };
        let late: Vec<Vec<Vec<i64>>> = set.banks.iter().map(served).collect();
        if late.iter().flatten().all(Vec::is_empty) {
            continue;
        }
        let read = Read { depth: first.depth, double, choices, element: bits, uram: vsa.uram };
        let parts = read.parts(&late, pick::are_apart(starts, first.ports, word), vsa.fabric);
        let waits: Vec<i64> = parts.iter().map(|part| part.wait + read.waits_for_choice()).collect();
        lanes.extend(waits.iter().map(|w| FEED_LATENCY - 1 + w));
        one += addresses(&set, first, double, &waits, vsa) + blocks(early, first.depth);
        let hit = |bank: &Bank, g: &InputGroup| hit(bank, &g.footprint, word, [g.first, g.last]);
        one.lut += match members[..] {
            [one] => hit(first, one),
            _ => members.iter().map(|g| hit(&g.banks[0], g)).sum(),
        };
        if first.words_per_row > 1 && first.stride == 0 {
            one.lut += col + bits_of(first.depth);
        }
        for part in &parts {
            let of_ports = &late[part.bank][part.first as usize..(part.first + part.ports) as usize];
            let later: Vec<i64> = of_ports.iter().flatten().map(|late| late - part.wait).collect();
            if !later.is_empty() {
                let width = if part.ports == first.ports { elements } else { choices * i64::from(part.ports) };
                one += bank(vsa, first, read, width * bits, &later);
            }
        }
    }
    if choices > 1 {
        one += line(lanes, bits_of(choices), vsa.fabric);
    }
    one * count
}

/// Bits of an item of the load stream without its word and half.
fn loaded(members: &[&InputGroup]) -> i64 {
    let groups = if members.len() > 1 { members.len() as i64 } else { 0 };
    members.iter().map(|g| fields(&g.footprint)).max().unwrap_or(0) + groups + 2
}

/// Bits of row and column that waves bring to the feeders of these groups.
fn indices(vsa: &Vsa, members: &[&InputGroup]) -> [i64; 2] {
    let bits = |form: fn(&InputGroup) -> &Form| members.iter().map(|g| wave_bits(vsa, form(g))).max().unwrap_or(0);
    [bits(|g| &g.row), bits(|g| &g.col)]
}

/// Bits of row and column that waves bring to the collectors of these groups.
fn filled(vsa: &Vsa, members: &[&OutputGroup]) -> [i64; 2] {
    let bits = |form: fn(&OutputGroup) -> &Form| members.iter().map(|g| wave_bits(vsa, form(g))).max().unwrap_or(0);
    [bits(|g| &g.row), bits(|g| &g.col)]
}

/// A bank without its addresses: the memory, `width` bits wide, the choice of elements, and what waits for later nodes.
fn bank(vsa: &Vsa, of: &Bank, read: Read, width: i64, late: &[i64]) -> Resources {
    let Read { double, choices, element, .. } = read;
    let mut total = stored(of, double, width, vsa.device());
    if read.is_constant() && choices <= 1 {
        return total;
    }
    // Block RAM has the register of its word inside.
    let word = i64::from(is_in_luts(of, double));
    if choices > 1 {
        total += Resources::ff((1 + word) * width);
    }
    // A sketch does not say whether these are registers or shift registers.
    let sketch = vsa.nodes.is_empty();
    for late in late {
        total.lut += element * choice(choices);
        total += if sketch { Resources::default() } else { line([1 + late], element, vsa.fabric) };
    }
    total
}

/// Write and read addresses of a set of banks.
fn addresses(set: &Set, first: &Bank, double: bool, waits: &[i64], vsa: &Vsa) -> Resources {
    let depth = first.depth.max(1);
    let others = set.banks.len() as i64 - 1;
    // Each bank has its enable.
    let enables = Resources::lut(others);
    if depth == 1 {
        return enables + if double { line(waits.iter().map(|w| 1 + w), 1, vsa.fabric) } else { Resources::default() };
    }
    let at = bits_of(depth);
    let counters = match (others, set.leader) {
        (0, _) => Resources::logic(2 * at, at),
        // The next address, too; words of a row are not counted.
        (_, Some(_)) => {
            let of_row = bits_of(first.depth / first.words_per_row.max(1));
            Resources::logic(3 * of_row, 2 * of_row)
        }
        _ => Resources::logic(2 * at, at) * (1 + others),
    };
    enables + counters + line(waits.iter().map(|w| 1 + w), at + i64::from(double), vsa.fabric)
}

/// When a group's first value is ready, and per port the cycles by which nodes have its value later; none for a port
/// that no node reads.
fn late(vsa: &Vsa, g: usize) -> (i64, Vec<Vec<i64>>) {
    let group = &vsa.inputs[g];
    if vsa.nodes.is_empty() {
        return (FEED_LATENCY, vec![vec![0]; group.ports.len()]);
    }
    let mut ready: Vec<Vec<i64>> = vec![vec![]; group.ports.len()];
    for (node, &at) in vsa.nodes.iter().zip(&vsa.schedule.ready) {
        match node.op {
            Op::Input { group, port } if group as usize == g => {
                ready[port as usize].push(at);
            }
            _ => {}
        }
    }
    let first = ready.iter().flatten().min().copied().unwrap_or(FEED_LATENCY);
    (first, ready.into_iter().map(|of| of.into_iter().map(|r| r - first).collect()).collect())
}

/// LUTs that choose row and column of the present function, with so many bits.
fn chosen(forms: [Vec<(&[usize], &Form)>; 2], bits: [i64; 2]) -> i64 {
    let one = |(forms, bits): (Vec<_>, i64)| bits * choice(common::by_function(&forms).len() as i64);
    forms.into_iter().zip(bits).map(one).sum()
}

/// Registers in front of the array for the fields of feeders and collectors: a field enters the array when the first of
/// them reads it.
pub(super) fn entries(vsa: &Vsa) -> Resources {
    // A sketch has no schedule.
    if vsa.nodes.is_empty() {
        return Resources::default();
    }
    let entry = |[row, col]: [i64; 2], double: bool, delay: i64| {
        [row, col, double.into()].into_iter().map(|bits| line([delay], bits, vsa.fabric)).sum::<Resources>()
    };
    let owners = (0..vsa.inputs.len()).filter(|g| vsa.feeders_of(*g) == *g);
    let feeders = owners.map(|g| {
        let groups = vsa.fed_with(g);
        let members: Vec<&InputGroup> = groups.iter().map(|g| &vsa.inputs[*g]).collect();
        let (bits, double) = (indices(vsa, &members), members.iter().any(|g| !g.loads_once(vsa)));
        let rows = members.iter().map(|g| (&g.used.functions[..], &g.row)).collect();
        let cols = members.iter().map(|g| (&g.used.functions[..], &g.col)).collect();
        let delay = late(vsa, g).0 - FEED_LATENCY + vsa.schedule.way(vsa.inputs[g].away(vsa));
        entry(bits, double, delay) + Resources::lut(chosen([rows, cols], bits))
    });
    let owners = (0..vsa.outputs.len()).filter(|o| vsa.collectors_of(*o) == *o);
    let collectors = owners.map(|o| {
        let (g, common::Collectors { groups, double, .. }) = (&vsa.outputs[o], common::Collectors::of(vsa, o));
        let members: Vec<&OutputGroup> = groups.iter().map(|o| &vsa.outputs[*o]).collect();
        let bits = filled(vsa, &members);
        let rows = members.iter().map(|g| (&g.emit.functions[..], &g.row)).collect();
        let cols = members.iter().map(|g| (&g.emit.functions[..], &g.col)).collect();
        let delay = collect_time(vsa, o) - 1 + vsa.schedule.way(g.away(vsa));
        let enables = line([delay], enables(vsa, g), vsa.fabric);
        entry(bits, double, delay) + enables + Resources::lut(chosen([rows, cols], bits))
    });
    feeders.sum::<Resources>() + collectors.sum()
}

/// Enables of a group that travel with the waves.
fn enables(vsa: &Vsa, group: &OutputGroup) -> i64 {
    let mut enables: Vec<_> =
        group.ports.iter().map(|p| p.enable).filter(|e| e.index() < vsa.nodes.len() && travels(vsa, *e)).collect();
    enables.sort_unstable();
    enables.dedup();
    enables.len() as i64
}

/// A bank is registers or LUTs, and a register behind it holds the word that is read.
fn is_in_luts(bank: &Bank, double: bool) -> bool {
    let depth = bank.depth.max(1);
    in_luts(if double { (1 << bits_of(depth)) + depth } else { depth })
}

/// The memory of a bank.
fn stored(bank: &Bank, double: bool, width: i64, device: Device) -> Resources {
    let depth = bank.depth.max(1);
    match (double, depth) {
        (false, 1) => Resources::ff(width),
        (true, 1) => memory(2, width, device.fabric),
        _ => memory(if double { (1 << bits_of(depth)) + depth } else { depth }, width, device),
    }
}

/// Collectors store elements and answer requests from a register. Those of guests are their owner's.
pub(super) fn collectors(vsa: &Vsa, o: usize) -> Resources {
    if vsa.collectors_of(o) != o {
        return Resources::default();
    }
    // A sketch does not say whether there are two buffers.
    if vsa.nodes.is_empty() {
        buffers(vsa, o, false).least(buffers(vsa, o, true))
    } else {
        buffers(vsa, o, common::Collectors::of(vsa, o).double)
    }
}

/// Collectors with one buffer each, or two.
fn buffers(vsa: &Vsa, o: usize, double: bool) -> Resources {
    let group = &vsa.outputs[o];
    let array = &vsa.arrays[group.array as usize];
    let (word, bits) = (i64::from(array.word), i64::from(array.ty.bits()));
    let (extent, relays) = (group.extent(), Relays::new(vsa, o));
    let hop = (0..2).filter(|&a| extent[a] > 1).map(|a| vsa.schedule.start[a].hop_delay()).max().unwrap_or(0).max(1);
    let common::Collectors { groups, banks, .. } = common::Collectors::of(vsa, o);
    let members: Vec<&OutputGroup> = groups.iter().map(|o| &vsa.outputs[*o]).collect();
    let [row, col] = filled(vsa, &members);
    let early = early(vsa, Walk::writes, group.array, o, &group.footprint);
    let mut one = line(1..=hop, row + col + i64::from(double) + enables(vsa, group), vsa.fabric);
    let hit = |bank: &Bank, g: &OutputGroup| hit(bank, &g.footprint, word, [g.first, g.last]);
    for bank in &banks {
        let lanes = relays.width(bank, word);
        let rows = if bank.elements <= word && bank.bank.stride == 0 {
            bank.bank.depth / bank.bank.words_per_row.max(1)
        } else {
            bank.bank.depth
        }
        .max(1);
        let depth = rows * relays.steps();
        let at = bits_of(depth);
        let words = if double {
            if depth == 1 {
                2
            } else {
                (1 << at) + depth
            }
        } else {
            depth
        };
        one += match words {
            1 => Resources::ff(lanes * bits),
            _ => masked(words, lanes, bits, vsa.device()),
        };
        one.lut += if lanes > 1 { 2 * lanes } else { 0 };
        one.lut += match members[..] {
            [one] => hit(&bank.bank, one),
            _ => members.iter().map(|g| hit(&g.banks[0].bank, g)).sum(),
        };
        one += blocks(early, rows);
        let of_rows = if rows > 1 { 2 * bits_of(rows) } else { 0 };
        one += if relays.turn.is_some() {
            // Counters of rows and steps; block RAM has the register of its answer inside.
            let answer = if in_luts(words) { lanes * bits } else { 0 };
            let step = bits_of(relays.steps());
            Resources::logic(of_rows + step + 1, of_rows + step + 1 + i64::from(double) + answer)
        } else {
            let held = if rows > 1 { of_rows + i64::from(double) } else { 0 };
            Resources::logic(of_rows, lanes * bits + 1 + held)
        };
    }
    one.lut += relays.answering(vsa, o);
    one * extent.iter().product()
}

/// A memory with a write enable per lane. In LUTs, each lane is a memory.
fn masked(words: i64, lanes: i64, bits: i64, device: Device) -> Resources {
    if in_luts(words) {
        memory(words, bits, device.fabric) * lanes
    } else {
        memory(words, lanes * bits, device)
    }
}

/// Relays join the bus words of their collectors; the port joins the words of its groups.
pub(super) fn relays(vsa: &Vsa, port: usize) -> Resources {
    let is_owner = |o: &usize| vsa.port_of(vsa.outputs[*o].array) == port && vsa.collectors_of(*o) == *o;
    let of_port: Vec<usize> = (0..vsa.outputs.len()).filter(is_owner).collect();
    if of_port.is_empty() {
        return Resources::default();
    }
    let bits = 8 * i64::from(vsa.bus_bytes(port));
    let latency = drain_latency(vsa, port);
    let mut total = Resources::lut(bits * relay::joining(of_port.len() as i64)) + line([latency], 1, vsa.fabric);
    for o in of_port {
        let relays = Relays::new(vsa, o);
        let modules: i64 = relays.extent.iter().product();
        let (lut, ff) = relays.joins(vsa, o);
        let token = asked(vsa, o);
        total += Resources::ff(token) * modules + Resources::logic(lut, ff);
        total += line([latency - answer_latency(vsa, o, &relays)], bits, vsa.fabric);
    }
    total
}

/// Bits of a token.
fn asked(vsa: &Vsa, o: usize) -> i64 {
    let common::Collectors { groups, double, .. } = common::Collectors::of(vsa, o);
    let fields = groups.iter().map(|o| fields(&vsa.outputs[*o].footprint)).max().unwrap_or(0);
    2 + i64::from(double) + fields + if groups.len() > 1 { groups.len() as i64 } else { 0 }
}

/// Registers of what crosses between bands, on both sides of each cut, without the few fields of the waves.
pub(super) fn crossings(vsa: &Vsa) -> Resources {
    let Some(bands) = Bands::of(vsa).ok().filter(|bands| bands.count() > 1) else { return Resources::default() };
    let c = bands.axis;
    let live = live_nodes(vsa);
    let cuts_of = |away: [i64; 2], extent: [i64; 2]| {
        let (first, last) = (bands.at(away[c]), bands.at(away[c] + extent[c] - 1));
        [last - first, last].map(|cuts| cuts as i64)
    };
    let mut bits = 0;
    for (node, _) in vsa.nodes.iter().zip(&live).filter(|(_, live)| **live) {
        let width = i64::from(node.ty.bits());
        match &node.op {
            Op::Past { hop, .. } => {
                let lines = (vsa.extent[1 - c] - hop[1 - c].abs()).max(0);
                bits += (bands.count() as i64 - 1) * width * hop[c].abs() * lines;
            }
            Op::Input { group, .. } => {
                let group = &vsa.inputs[*group as usize];
                let lines = if group.forward[1 - c] { 1 } else { group.readers()[1 - c] };
                bits += if group.forward[c] { cuts_of(group.away(vsa), group.readers())[0] * width * lines } else { 0 };
            }
            _ => {}
        }
    }
    for (g, group) in vsa.inputs.iter().enumerate().filter(|(g, _)| vsa.feeders_of(*g) == *g) {
        let array = &vsa.arrays[group.array as usize];
        let groups = vsa.fed_with(g);
        let members: Vec<&InputGroup> = groups.iter().map(|g| &vsa.inputs[*g]).collect();
        let double = members.iter().any(|g| !g.loads_once(vsa));
        let item = 8 * i64::from(array.bus_bytes()) + loaded(&members) + i64::from(double);
        bits += cuts_of(group.away(vsa), group.feeders())[1] * item;
    }
    for (o, group) in vsa.outputs.iter().enumerate().filter(|(o, _)| vsa.collectors_of(*o) == *o) {
        let [between, back] = cuts_of(group.away(vsa), group.extent());
        let word = 8 * i64::from(vsa.arrays[group.array as usize].bus_bytes());
        let token = asked(vsa, o);
        let relays = Relays::new(vsa, o);
        let chains = relays.turn.as_ref().filter(|turn| turn.axis != c).map_or(word, |turn| {
            let array = &vsa.arrays[group.array as usize];
            relays.extent[turn.axis] * (turn.chains * turn.width) as i64 * 8 * i64::from(array.ty.bytes())
        });
        bits += between * chains + back * (token + word);
    }
    Resources::ff(2 * bits)
}
