//! Collectors, relays and turns of the array: their grids, the tokens that they get, and the words that they answer with.

use super::{element, served_name, shape, Buffers, Build, Crossing, DrainingPorts, Within};
use crate::control::{time_field, Field};
use crate::io::collector::{self, masks, wave_enables, Collector, CollectorPorts};
use crate::io::relay::Relay;
use crate::io::turn::Turn;
use crate::io::words::StreamShape;
use crate::port::Port;
use crate::stream::{Answer, StreamItem, Tokens};
use array::contract::relay::{lanes, owned, Relays};
use array::contract::timing::{answer_latency, collect_time, drain_latency};
use array::contract::turn;
use array::contract::walk::Walk;
use array::vsa::{NodeId, Op, OutputGroup, Vsa};
use rtl::{u, Design, Instance, Sig, Ty};

/// The collectors behind an AXI port.
#[derive(Clone, Debug, PartialEq)]
pub struct Draining {
    pub port: usize,
    /// Name of the arrays behind the port, see [`served_name`].
    pub name: String,
    pub stream: Tokens<Ty>,
    /// Cycles from a token to its answer.
    pub latency: u32,
    /// Bytes of a word.
    pub bytes: u32,
    /// In the order of the group bits of the stream.
    pub groups: Vec<Collectors>,
}

/// The collectors of an output group and its guests, and their relays.
#[derive(Clone, Debug, PartialEq)]
pub struct Collectors {
    /// The group's index.
    pub group: usize,
    /// The indices of the group and its guests, and their places in the group bits of the stream.
    pub groups: Vec<usize>,
    pub bits: Vec<usize>,
    /// Groups with two halves.
    pub double: Vec<usize>,
    pub collector: Collector,
    /// Collectors along each axis.
    pub extent: [i64; 2],
    /// Hops from the entry of waves to the first PE with a collector.
    pub away: [i64; 2],
    /// Cycles from the arrival of a wave at a PE to that of its fields at the PE's collector.
    pub delay: i64,
    /// In the order of [`Collector::wave_enables`].
    pub enables: Vec<WaveEnable>,
    pub relay: Relay,
    pub relays: Relays,
    /// By relay: how its bus words are composed, lowest bits first.
    pub words: Vec<Vec<Part>>,
    /// Elements leave one after the other.
    pub turns: Option<Turns>,
    /// Cycles by which the word is earlier than that of the slowest group.
    pub spare: u32,
}

/// The turns behind the relays.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    /// Along which axis they stand.
    pub axis: usize,
    pub turn: Turn,
    /// By turn: of each bus word its number in the rows, and how it is composed of the chains, lowest bits first.
    pub words: Vec<TurnWords>,
}

/// Bus words of a turn, each with its number in the rows, and its pieces.
pub type TurnWords = Vec<(i64, Vec<Piece>)>;

/// Consecutive bits of a bus word: from this bit of the turn's elements on, or zeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub from: Option<u32>,
    pub bits: u32,
}

/// An enable that comes with the waves.
#[derive(Clone, Debug, PartialEq)]
pub enum WaveEnable {
    Always,
    Never,
    Field(Field),
}

/// Consecutive bits of a bus word from one collector, or zeros.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub from: Option<PartOf>,
    pub bits: u32,
}

/// Bits of an answer, from `bit` on.
#[derive(Clone, Debug, PartialEq)]
pub struct PartOf {
    pub collector: [i64; 2],
    /// The index in [`Collector::answers`].
    pub answer: usize,
    pub bit: u32,
}

impl Draining {
    pub fn new(vsa: &Vsa, port: usize, (stream, walk): (Tokens<Ty>, &Walk)) -> Draining {
        let all: Vec<usize> = (0..vsa.outputs.len()).filter(|o| vsa.port_of(vsa.outputs[*o].array) == port).collect();
        let owners = all.iter().filter(|o| vsa.collectors_of(**o) == **o);
        let groups = owners.map(|o| Collectors::new(vsa, *o, &all, (&stream, walk))).collect();
        Draining {
            port,
            name: served_name(vsa, port),
            stream,
            latency: drain_latency(vsa, port) as u32,
            bytes: vsa.bus_bytes(port),
            groups,
        }
    }

    pub fn ports(&self) -> DrainingPorts {
        let double = self.groups.iter().flat_map(|g| &g.double);
        DrainingPorts {
            tokens: self.stream.map(|name, ty| Port::new(format!("out{}_{}_{name}", self.port, self.name), *ty)),
            answer: Answer::ports(&format!("out{}_{}_", self.port, self.name), self.bytes),
            slots: double.map(|o| (*o, Port::bit(format!("out_slot{o}")))).collect(),
        }
    }
}

impl Collectors {
    /// `all`: the groups of the port.
    fn new(vsa: &Vsa, o: usize, all: &[usize], (stream, walk): (&Tokens<Ty>, &Walk)) -> Collectors {
        let group = &vsa.outputs[o];
        let array = &vsa.arrays[group.array as usize];
        let (relays, away) = (Relays::new(vsa, o), group.away(vsa));
        let groups = vsa.collected_with(o);
        let of_group = |o: &usize| {
            let footprint = &vsa.outputs[*o].footprint;
            shape(&stream.word, footprint, walk.early(*o, footprint))
        };
        let shape = StreamShape::joined(groups.iter().map(of_group).collect());
        let collector = Collector::new(vsa, o, shape, &relays);
        let enable = |id: NodeId| match (time_field(vsa, id), &vsa.node(id).op) {
            (Some(field), _) => WaveEnable::Field(field),
            (None, Op::Const(0)) => WaveEnable::Never,
            (None, _) => WaveEnable::Always,
        };
        let name = array.name.to_lowercase();
        let turns = relays.turn.as_ref().map(|turn| Turns::new(vsa, o, (&relays, turn), stream.word.w.w));
        let relay = Relay {
            name: format!("relay{o}_{name}"),
            token: collector.ports().tokens.map(|_, port| port.ty),
            joined: relays.joined as u32,
            before: relays.before(),
            width: turns.as_ref().map_or(8 * array.bus_bytes(), |of| of.turn.chains * of.turn.bits),
        };
        let [n0, n1] = relays.extent;
        Collectors {
            group: o,
            bits: groups.iter().filter_map(|o| all.iter().position(|k| k == o)).collect(),
            double: groups.iter().copied().filter(|o| vsa.outputs[*o].slots > 1).collect(),
            groups,
            extent: group.extent(),
            away,
            delay: collect_time(vsa, o) - 1,
            enables: wave_enables(vsa, group).into_iter().map(enable).collect(),
            words: (0..n0)
                .flat_map(|i| (0..n1).map(move |j| [i, j]))
                .map(|at| match &turns {
                    Some(turns) => turns.links(vsa, o, &relays, at),
                    None => parts(vsa, o, &relays, at),
                })
                .collect(),
            turns,
            spare: (drain_latency(vsa, vsa.port_of(group.array)) - answer_latency(vsa, o, &relays)) as u32,
            collector,
            relay,
            relays,
        }
    }
}

impl Turns {
    fn new(vsa: &Vsa, o: usize, (relays, of): (&Relays, &turn::Turn), w: u32) -> Turns {
        let group = &vsa.outputs[o];
        let array = &vsa.arrays[group.array as usize];
        let (word, element) = (i64::from(array.word), 8 * array.ty.bytes());
        let bits = of.width as u32 * element;
        let turn = Turn {
            name: format!("turn{o}_{}", array.name.to_lowercase()),
            chains: of.chains as u32,
            bits,
            element,
            steps: of.steps as u32,
            words: of.words as u32,
            width: 8 * array.bus_bytes(),
            w,
        };
        let answers = &relays.answers;
        let words = |k: i64| {
            let chains = of.chains_of(vsa, o, (relays.block, &relays.answers), k);
            let compose = |e: i64, among: &[usize]| {
                let from = among.iter().find(|c| chains[**c].elements >> e & 1 == 1);
                let bank = |c: &usize| &group.banks[answers[chains[*c].answers[0]][0]];
                let lane = |c: &usize| (e % lanes(bank(c), word)) as u32;
                Piece { from: from.map(|c| *c as u32 * bits * turn.steps + lane(c) * element), bits: element }
            };
            let one = |of: turn::Turned| (of.word, (0..word).map(|e| compose(e, &of.chains)).collect());
            turn::words(&chains).into_iter().map(one).collect()
        };
        let words = (0..relays.extent[of.axis]).map(words).collect();
        Turns { axis: of.axis, turn, words }
    }

    /// What relay `at` joins: the elements of its collectors by chain.
    fn links(&self, vsa: &Vsa, o: usize, relays: &Relays, at: [i64; 2]) -> Vec<Part> {
        let (group, a) = (&vsa.outputs[o], self.axis);
        let chains =
            relays.turn.as_ref().map_or(vec![], |turn| turn.chains_of(vsa, o, (relays.block, &relays.answers), at[a]));
        let along = 1 - a;
        let places =
            at[along] * relays.block[along]..((at[along] + 1) * relays.block[along]).min(group.extent()[along]);
        let sources: Vec<Vec<PartOf>> = chains
            .iter()
            .map(|chain| {
                let at = |k: i64, answer: usize| {
                    let mut collector = [k; 2];
                    collector[a] = chain.line;
                    PartOf { collector, answer, bit: 0 }
                };
                places.clone().flat_map(|k| chain.answers.iter().map(move |b| at(k, *b))).collect()
            })
            .collect();
        let part =
            |n: usize, c: usize| Part { from: sources.get(c).and_then(|of| of.get(n)).cloned(), bits: self.turn.bits };
        (0..relays.joined)
            .flat_map(|n| (0..self.turn.chains as usize).map(move |c| (n, c)))
            .map(|(n, c)| part(n, c))
            .collect()
    }
}

/// Composition of the bus words of relay `at`: elements of its collectors, zeros between them.
fn parts(vsa: &Vsa, o: usize, relays: &Relays, at: [i64; 2]) -> Vec<Part> {
    let group: &OutputGroup = &vsa.outputs[o];
    let array = &vsa.arrays[group.array as usize];
    let (word, bits) = (array.word as i64, 8 * array.ty.bytes());
    let answers = &relays.answers;
    let bank = |k: usize| &group.banks[answers[k][0]];
    let mut words = relays.words(vsa, o, at);
    words.resize(relays.joined, vec![]);
    let mut parts = vec![];
    for sources in words {
        let owner =
            |e: i64| sources.iter().position(|(hops, k)| owned(bank(*k), word, group.pe(vsa, *hops)) >> e & 1 == 1);
        let mut e = 0;
        while e < word {
            let source = owner(e).map(|k| sources[k]);
            let count = source.map_or(word, |(_, k)| lanes(bank(k), word));
            let run = 1 + (e + 1..word).take_while(|x| owner(*x) == owner(e) && x % count != 0).count() as u32;
            let from = source.map(|(collector, answer)| PartOf { collector, answer, bit: (e % count) as u32 * bits });
            parts.push(Part { from, bits: run * bits });
            e += i64::from(run);
        }
    }
    parts
}

impl<'m> Build<'_, 'm> {
    pub(super) fn collectors(&self, d: &mut Design, draining: &Draining, ports: &DrainingPorts) {
        let m = self.m;
        let sent = (self.part.band == 0).then(|| {
            let sent = ports.tokens.map(|_, port| port.input(m));
            // The first token of a drain is the one for word 0 of row 0.
            let digits = sent.word.digits.iter().flat_map(|d| [Some(d.u), d.r]).flatten();
            let zeros: Vec<Sig<'m>> = [sent.word.w].into_iter().chain(digits).map(|x| !x.reduce_or()).collect();
            let first = m.all(&zeros);
            (sent, first)
        });
        let one = |of: &Collectors| {
            let slots: Vec<&Port> = ports.slots.iter().filter(|s| of.groups.contains(&s.0)).map(|s| &s.1).collect();
            let passing = |b: &Self| match &sent {
                Some((sent, first)) => {
                    let rank = of.collector.buffer.shape.u.len();
                    b.passing(&sent.word, (&of.bits, rank), [sent.valid, *first], None)
                }
                None => Crossing::of_tokens(self.array, of).map(|_, of| b.crossed(&of.port)),
            };
            let word = match self.part.within(of.away, of.extent) {
                Some(within) => self.collector(d, of, &slots, within, passing),
                None => {
                    if sent.is_some() {
                        slots.iter().for_each(|port| _ = self.entry(port));
                        self.pass_on(&Crossing::of_tokens(self.array, of), &passing(self));
                    }
                    None
                }
            };
            let answer = Crossing::of_answer(self.array, of);
            match (word, answer) {
                (Some(word), None) => Some(m.delay(word, of.spare, format!("word{}_d", of.group))),
                (Some(word), Some(answer)) => {
                    self.leave_as(&answer, word);
                    None
                }
                (None, Some(answer)) if self.part.band == 0 => {
                    Some(m.delay(self.crossed(&answer.port), of.spare, format!("word{}_d", of.group)))
                }
                (None, _) => None,
            }
        };
        let words: Vec<Sig<'m>> = draining.groups.iter().filter_map(one).collect();
        if let Some((sent, _)) = &sent {
            ports.answer.valid.output(m, m.delay(sent.valid, draining.latency, format!("rd_valid{}", draining.port)));
            ports.answer.data.output(m, m.any(&words));
        }
    }

    /// Collectors of a group and their relays that the part has. Returns the word that answers, if its last relay is
    /// here.
    fn collector(
        &self,
        d: &mut Design,
        of: &Collectors,
        slots: &[&Port],
        within: Within,
        sent: impl FnOnce(&Self) -> StreamItem<Sig<'m>>,
    ) -> Option<Sig<'m>> {
        let (m, o, extent, collector) = (self.m, of.group, within.extent, &of.collector);
        let ports = collector.ports();
        let module = d.module(collector.clone());
        let grid = m.grid(d, format!("collect{o}"), &module, extent.map(|n| n as u32));
        let at = Buffers { of: &collector.buffer, grid, extent, skip: within.skip, columns: of.extent[1] };
        let delay = of.delay + self.way(within.away);
        // That of a group which does not run is 0.
        let slots: Vec<(&Port, Sig<'m>)> = slots.iter().filter_map(|port| Some((*port, self.entry(port)?))).collect();
        let slot = slots.first().map(|s| (s.0, m.any(&slots.iter().map(|s| s.1).collect::<Vec<_>>())));
        self.waves(at, &format!("collect{o}"), &ports.buffer, slot, delay);
        for (enable, chain) in of.enables.iter().zip(&ports.enables) {
            let enable = match enable {
                WaveEnable::Field(field) => self.valid() & self.field(field, 0, ""),
                WaveEnable::Never => m.lit(0, u(1)),
                WaveEnable::Always => self.valid(),
            };
            self.chain(grid, extent, chain, m.delay(enable, delay as u32, format!("collect{o}_{}_d", chain.port.name)));
        }
        self.values(grid, within, of, &ports);
        for (ties, bank) in ports.buffer.ties.iter().zip(collector.windows()) {
            self.tie_bank(at, ties, bank);
        }
        for (b, bank) in collector.banks.iter().enumerate() {
            if let Some(port) = &ports.masks[b] {
                grid.set_each(&port.name, |i, j| {
                    collector::mask_literal(m, &masks(bank, collector.buffer.word, at.pe(i, j)))
                });
            }
        }
        self.relays(d, (grid, within), &ports, of, sent)
    }

    /// Connects values and enables to the outputs of the PEs.
    fn values(&self, grid: Instance<'m>, within: Within, of: &Collectors, ports: &CollectorPorts) {
        let away = within.away.map(|n| n as u32);
        let from_pe = |port: &Port, i: u32, j: u32| element(self.pe, port, self.part.extent, i + away[0], j + away[1]);
        let values = ports.values.iter().zip(&ports.value_enables);
        for ((value, enable), pe) in values.zip(&self.array.pe.ports.outputs[of.group]) {
            grid.set_each(&value.name, |i, j| from_pe(&pe.value, i, j));
            if let (Some(enable), Some(pe)) = (enable, &pe.enable) {
                grid.set_each(&enable.name, |i, j| from_pe(pe, i, j));
            }
        }
    }

    /// Relays of a group: tokens to the collectors, answers back.
    fn relays(
        &self,
        d: &mut Design,
        (collectors, within): (Instance<'m>, Within),
        to: &CollectorPorts,
        of: &Collectors,
        sent: impl FnOnce(&Self) -> StreamItem<Sig<'m>>,
    ) -> Option<Sig<'m>> {
        let (m, o, c) = (self.m, of.group, self.array.bands.axis);
        // Blocks lie in one band each.
        let extent = [0, 1].map(|a| (within.extent[a] + of.relays.block[a] - 1) / of.relays.block[a]);
        let skip = [0, 1].map(|a| within.skip[a] / of.relays.block[a]);
        let [n0, n1] = extent.map(|n| n as u32);
        let ports = of.relay.ports();
        let relay = d.module(of.relay.clone());
        let grid = m.grid(d, format!("relay{o}"), &relay, [n0, n1]);
        self.stream_chain(grid, extent, &ports.token, &sent(self));
        self.hand_on(grid, extent, &ports.token, &Crossing::of_tokens(self.array, of));
        ports.token.zip(&to.tokens, |chain, port| {
            let Some(port) = port else { return };
            collectors.set_bus(&port.name, self.spread(grid, &chain.onward[1], (&of.relays, extent), within.extent));
        });
        grid.set_each(&ports.words.name, |i, j| {
            let [i, j] = [i64::from(i) + skip[0], i64::from(j) + skip[1]];
            self.words((collectors, within), to, of, (i * of.relays.extent[1] + j) as usize)
        });
        // Answers move along axis 1 with their token, then along axis 0 in the last column.
        let zero = m.lit(0, ports.word.ty);
        let crossing = Crossing::of_words(self.array, of);
        let before = crossing.iter().find(|_| within.skip[c] > 0).map(|of| self.crossed(&of.port));
        let word = match &of.turns {
            Some(turns) => self.turns(d, (grid, &of.relay), of, turns, (extent, skip), before),
            None => {
                let [beside, above] = [1, 0].map(|a| before.filter(|_| a == c).unwrap_or(zero));
                if let Some(port) = &ports.beside {
                    grid.link(&ports.word.name, &port.name, [0, 1], |i, _| if i + 1 == n0 { beside } else { zero });
                }
                if let Some(port) = &ports.above {
                    grid.set_each(&port.name, |i, j| match (i, j + 1 == n1) {
                        (0, true) => above,
                        (_, true) => element(grid, &ports.word, extent, i - 1, j),
                        _ => zero,
                    });
                }
                grid.out_at(&ports.word.name, n0 - 1, n1 - 1)
            }
        };
        match crossing.filter(|of| self.leaves(of)) {
            Some(of) => {
                self.leave_as(&of, word);
                None
            }
            None => Some(word),
        }
    }

    /// Elements move along one axis from relay to relay, then through the turns along the other. Returns the word of
    /// the last turn, or, if the chains go on in the next band, their elements.
    fn turns(
        &self,
        d: &mut Design,
        (relays, relay): (Instance<'m>, &Relay),
        of: &Collectors,
        turns: &Turns,
        (extent, skip): ([i64; 2], [i64; 2]),
        before: Option<Sig<'m>>,
    ) -> Sig<'m> {
        let (m, from, a) = (self.m, relay.ports(), turns.axis);
        let along = self.array.bands.axis != a;
        let count = extent[a];
        let last = |k: u32| if a == 1 { [extent[0] as u32 - 1, k] } else { [k, extent[1] as u32 - 1] };
        let behind = |port: &Port, k: u32| element(relays, port, extent, last(k)[0], last(k)[1]);
        let none = m.lit(0, from.word.ty);
        let offset = [0, 1].map(|x| i32::from(x != a));
        if let Some(port) = &from.above {
            relays.link(&from.word.name, &port.name, offset, |i, j| match before {
                Some(chains) if along => chains.slice([i, j][a] * none.w(), none.w()),
                _ => none,
            });
        }
        if along && Crossing::of_words(self.array, of).is_some_and(|of| self.leaves(&of)) {
            return m.concat(&(0..count as u32).rev().map(|k| behind(&from.word, k)).collect::<Vec<_>>());
        }
        let before = before.filter(|_| !along);
        let own = &turns.words[skip[a] as usize..(skip[a] + count) as usize];
        if turns.turn.steps == 1 {
            let chains = (0..count as u32).map(|k| behind(&from.word, k)).collect();
            return self.gathered(of.group, (turns, own), chains, before);
        }
        let ports = turns.turn.ports();
        let module = d.module(turns.turn.clone());
        let grid = m.grid(d, format!("turn{}", of.group), &module, [1, count as u32]);
        grid.set_each(&ports.valid.name, |_, k| behind(&from.token.valid.onward[1], k));
        if let Some(w) = &from.token.w {
            grid.set_each(&ports.w.name, |_, k| behind(&w.onward[1], k));
        }
        grid.set_each(&ports.chains.name, |_, k| behind(&from.word, k));
        let numbers = |k: u32| {
            let words = &own[k as usize];
            let number = |n: u32| words.get(n as usize).map_or(0, |word| word.0);
            m.concat(&(0..turns.turn.words).rev().map(|n| m.lit(number(n), u(turns.turn.w))).collect::<Vec<_>>())
        };
        grid.set_each(&ports.numbers.name, |_, k| numbers(k));
        let words = |k: u32| {
            let elements = element(grid, &ports.elements, [1, count], 0, k);
            let piece = |piece: &Piece| match piece.from {
                Some(bit) => elements.slice(bit, piece.bits),
                None => m.lit(0, u(piece.bits)),
            };
            let words = &own[k as usize];
            let mut parts: Vec<Sig<'m>> = words.iter().flat_map(|word| word.1.iter().map(piece)).collect();
            let missing = turns.turn.words - words.len() as u32;
            if missing > 0 {
                parts.push(m.lit(0, u(missing * turns.turn.width)));
            }
            parts.reverse();
            m.concat(&parts).called(format!("turned_at_{k}"))
        };
        grid.set_each(&ports.words.name, |_, k| words(k));
        let zero = m.lit(0, ports.word.ty);
        grid.link(&ports.word.name, &ports.beside.name, [0, 1], |_, _| before.unwrap_or(zero));
        grid.out_at(&ports.word.name, 0, count as u32 - 1)
    }

    /// The bus word of elements that come in one cycle behind each relay: a relay that tokens reach earlier waits for the
    /// last one, as does the word of the band before. Collectors that do not own the word answer with 0.
    fn gathered(
        &self,
        group: usize,
        (turns, own): (&Turns, &[TurnWords]),
        chains: Vec<Sig<'m>>,
        before: Option<Sig<'m>>,
    ) -> Sig<'m> {
        let (m, last) = (self.m, chains.len() - 1);
        let late = |(k, x): (usize, Sig<'m>)| m.delay(x, (last - k) as u32, format!("chains{group}_{k}"));
        let chains: Vec<Sig<'m>> = chains.into_iter().enumerate().map(late).collect();
        let Turn { width, element, .. } = turns.turn;
        let gather = |e: u32| {
            let all = own.iter().zip(&chains).flat_map(|(words, chain)| words.iter().map(move |w| (w, chain)));
            let from = all.filter_map(|(word, chain)| Some(chain.slice(word.1[e as usize].from?, element)));
            match &from.collect::<Vec<_>>()[..] {
                [] => m.lit(0, u(element)),
                some => m.any(some),
            }
        };
        let word = (0..width / element).rev().map(gather).collect::<Vec<_>>();
        let word = m.concat(&word);
        let word = match before {
            Some(before) => word | m.delay(before, last as u32, format!("before{group}")),
            None => word,
        };
        let word = word.called(format!("gathered{group}"));
        m.reg(format!("gathered{group}_q"), word.ty()).next(word).q()
    }

    /// An output of each relay, copied to each of its collectors.
    fn spread(
        &self,
        grid: Instance<'m>,
        port: &Port,
        (relays, count): (&Relays, [i64; 2]),
        extent: [i64; 2],
    ) -> Sig<'m> {
        let [b0, b1] = relays.block;
        let row = |i: i64| (0..count[1]).rev().map(move |j| (i / b0, j));
        let copies = (0..extent[0]).rev().flat_map(row).map(|(i, j)| {
            self.m.repeat(element(grid, port, count, i as u32, j as u32), b1.min(extent[1] - j * b1) as u32)
        });
        self.m.concat(&copies.collect::<Vec<_>>())
    }

    /// The bus words of a relay.
    fn words(
        &self,
        (collectors, within): (Instance<'m>, Within),
        ports: &CollectorPorts,
        of: &Collectors,
        relay: usize,
    ) -> Sig<'m> {
        let part = |part: &Part| match &part.from {
            None => self.m.lit(0, u(part.bits)),
            Some(PartOf { collector: [i, j], answer, bit }) => {
                let [i, j] = [i - within.skip[0], j - within.skip[1]].map(|n| n as u32);
                element(collectors, &ports.words[*answer], within.extent, i, j).slice(*bit, part.bits)
            }
        };
        let mut parts: Vec<Sig<'m>> = of.words[relay].iter().map(part).collect();
        parts.reverse();
        self.m.concat(&parts).called(format!("joined_at_{relay}"))
    }
}
