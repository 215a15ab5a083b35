//! The cost of the I/O network (`templates::io`), module by module: feeders, collectors, relays.

use array::contract::bands::Bands;
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

/// Feeders pass the load stream on and store the elements that their waves read.
pub(super) fn feeders(vsa: &Vsa, g: usize) -> Resources {
    let group = &vsa.inputs[g];
    let extent = group.feeders();
    let count: i64 = extent.iter().product();
    let array = &vsa.arrays[group.array as usize];
    let (word, bits) = (i64::from(array.word), i64::from(array.ty.bits()));
    let double = !group.loads_once(vsa);
    // A sketch has no nodes and no schedule.
    let sketch = vsa.nodes.is_empty();
    let hop =
        (0..2).filter(|&a| extent[a] > 1 && !sketch).map(|a| vsa.schedule.start[a].hop_delay()).max().unwrap_or(0);
    let (row, col) = (wave_bits(vsa, &group.row), wave_bits(vsa, &group.col));
    let starts = pick::starts(&vsa.counters, &group.col, word);
    let choices = i64::from(starts.count_ones());
    let mut one = Resources::ff(8 * i64::from(array.bus_bytes()) + fields(&group.footprint) + 2 + i64::from(double));
    one += line(1..=hop, row + col + i64::from(double), vsa.fabric);
    let (_, late) = late(vsa, group);
    let early = early(vsa, Walk::reads, group.array, g, &group.footprint);
    let mut lanes = vec![FEED_LATENCY - 1];
    for set in feed::sets(&group.banks) {
        let first = &group.banks[set.banks[0]];
        let elements = i64::from(pick::stored(starts, first.ports, word).count_ones());
        let served = |&b: &usize| {
            let bank = &group.banks[b];
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
        one.lut += hit(first, &group.footprint, word, [group.first, group.last]);
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
fn late(vsa: &Vsa, group: &InputGroup) -> (i64, Vec<Vec<i64>>) {
    if vsa.nodes.is_empty() {
        return (FEED_LATENCY, vec![vec![0]; group.ports.len()]);
    }
    let mut ready: Vec<Vec<i64>> = vec![vec![]; group.ports.len()];
    for (node, &at) in vsa.nodes.iter().zip(&vsa.schedule.ready) {
        match node.op {
            Op::Input { group: g, port } if std::ptr::eq(&vsa.inputs[g as usize], group) => {
                ready[port as usize].push(at);
            }
            _ => {}
        }
    }
    let first = ready.iter().flatten().min().copied().unwrap_or(FEED_LATENCY);
    (first, ready.into_iter().map(|of| of.into_iter().map(|r| r - first).collect()).collect())
}

/// Registers in front of the array for the fields of feeders and collectors: a field enters the array when the first of
/// them reads it.
pub(super) fn entries(vsa: &Vsa) -> Resources {
    // A sketch has no schedule.
    if vsa.nodes.is_empty() {
        return Resources::default();
    }
    let entry = |row: &Form, col: &Form, double: bool, delay: i64| {
        [wave_bits(vsa, row), wave_bits(vsa, col), double.into()]
            .into_iter()
            .map(|bits| line([delay], bits, vsa.fabric))
            .sum::<Resources>()
    };
    let feeders = vsa.inputs.iter().map(|g| {
        entry(&g.row, &g.col, !g.loads_once(vsa), late(vsa, g).0 - FEED_LATENCY + vsa.schedule.way(g.away(vsa)))
    });
    let collectors = vsa.outputs.iter().enumerate().map(|(o, g)| {
        let delay = collect_time(vsa, o) - 1 + vsa.schedule.way(g.away(vsa));
        entry(&g.row, &g.col, g.slots > 1, delay) + line([delay], enables(vsa, g), vsa.fabric)
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

/// Collectors store elements and answer requests from a register.
pub(super) fn collectors(vsa: &Vsa, o: usize) -> Resources {
    // A sketch does not say whether there are two buffers.
    if vsa.nodes.is_empty() {
        buffers(vsa, o, false).least(buffers(vsa, o, true))
    } else {
        buffers(vsa, o, vsa.outputs[o].slots > 1)
    }
}

/// Collectors with one buffer each, or two.
fn buffers(vsa: &Vsa, o: usize, double: bool) -> Resources {
    let group = &vsa.outputs[o];
    let array = &vsa.arrays[group.array as usize];
    let (word, bits) = (i64::from(array.word), i64::from(array.ty.bits()));
    let (extent, relays) = (group.extent(), Relays::new(vsa, o));
    let hop = (0..2).filter(|&a| extent[a] > 1).map(|a| vsa.schedule.start[a].hop_delay()).max().unwrap_or(0).max(1);
    let (row, col) = (wave_bits(vsa, &group.row), wave_bits(vsa, &group.col));
    let early = early(vsa, Walk::writes, group.array, o, &group.footprint);
    let mut one = line(1..=hop, row + col + i64::from(double) + enables(vsa, group), vsa.fabric);
    for bank in &group.banks {
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
        one.lut +=
            hit(&bank.bank, &group.footprint, word, [group.first, group.last]) + if lanes > 1 { 2 * lanes } else { 0 };
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
    let of_port: Vec<usize> = (0..vsa.outputs.len()).filter(|&o| vsa.port_of(vsa.outputs[o].array) == port).collect();
    if of_port.is_empty() {
        return Resources::default();
    }
    let bits = 8 * i64::from(vsa.bus_bytes(port));
    let latency = drain_latency(vsa, port);
    let mut total = Resources::lut(bits * relay::joining(of_port.len() as i64)) + line([latency], 1, vsa.fabric);
    for o in of_port {
        let group = &vsa.outputs[o];
        let relays = Relays::new(vsa, o);
        let modules: i64 = relays.extent.iter().product();
        let (lut, ff) = relays.joins(vsa, o);
        let token = 2 + i64::from(group.slots > 1) + fields(&group.footprint);
        total += Resources::ff(token) * modules + Resources::logic(lut, ff);
        total += line([latency - answer_latency(vsa, o, &relays)], bits, vsa.fabric);
    }
    total
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
    for group in &vsa.inputs {
        let array = &vsa.arrays[group.array as usize];
        let item = 8 * i64::from(array.bus_bytes()) + fields(&group.footprint) + 2 + i64::from(!group.loads_once(vsa));
        bits += cuts_of(group.away(vsa), group.feeders())[1] * item;
    }
    for (o, group) in vsa.outputs.iter().enumerate() {
        let [between, back] = cuts_of(group.away(vsa), group.extent());
        let word = 8 * i64::from(vsa.arrays[group.array as usize].bus_bytes());
        let token = 2 + i64::from(group.slots > 1) + fields(&group.footprint);
        let relays = Relays::new(vsa, o);
        let chains = relays.turn.as_ref().filter(|turn| turn.axis != c).map_or(word, |turn| {
            let array = &vsa.arrays[group.array as usize];
            relays.extent[turn.axis] * (turn.chains * turn.width) as i64 * 8 * i64::from(array.ty.bytes())
        });
        bits += between * chains + back * (token + word);
    }
    Resources::ff(2 * bits)
}
