//! `AxiStation`: what an AXI port has on one die of the way from its engines to its memory on another die
//! ([`array::contract::away`]).
//!
//! Ports: the first station has the bus of the engines (`s_axi_*`), the last one that of the IP (`m_axi_*`). Between stations
//! each channel to the memory is `<channel>_valid`, its payload `<channel>`, and back `<channel>_taken`, a pulse for each item
//! that the memory has taken; a channel of answers is `<channel>_valid` and `<channel>`. What is constant does not cross.
//!
//! Timing: with a memory that is always ready, an item that the engine hands over in cycle `t` is on the last station's
//! channel in `t + 2 * borders + 2`, and an answer at the engine `2 * borders` cycles after it came. VALID and payload of
//! the bus are registers. There is no RREADY or BREADY inside: engines take every answer in its cycle.
//!
//! `live` is `ap_rst_n`: all stations forget all bursts in its first cycle, as engines and memories do. The soft reset
//! leaves them alone; engines end their bursts first.
//!
//! Invariant: the last station has a place for every item on the way.

use super::address::drive_ports;
use super::bundle::{AxiAddress, AxiRead, AxiWrite, Bus};
use super::elastic::{deep_fifo, pack, unpack, Deep};
use crate::border;
use crate::port::Port;
use array::contract::away;
use array::vsa::Vsa;
use rtl::{clog2, u, Design, Instance, ModuleBuilder, Sig, Template, Ty};

/// The way from the engines of a port to its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub bus: Bus,
    pub reads: bool,
    pub writes: bool,
    /// Borders of dies; one station more.
    pub borders: u32,
}

/// An engine with its bus, if the port has one.
type At<'a, 'm, B> = Option<(Instance<'m>, &'a B)>;

/// Patterns for the registers of crossings, from the core on.
pub(crate) fn registers() -> [String; 2] {
    border::REGISTERS.map(|register| format!("station*/{register}"))
}

/// Name of a station in its core, at this place of a way that leads up or down.
pub(crate) fn instance(port: usize, up: bool, place: u32) -> String {
    format!("station{port}_{}{place}", if up { "up" } else { "down" })
}

/// The dies between a station with this name and its engines, negative if it is below.
pub(crate) fn dies(instance: &str) -> Option<i64> {
    let (_, way) = instance.strip_prefix("station")?.split_once('_')?;
    match (way.strip_prefix("up"), way.strip_prefix("down")) {
        (Some(place), _) => place.parse().ok(),
        (_, Some(place)) => place.parse::<i64>().ok().map(|place| -place),
        _ => None,
    }
}

/// A channel of a bus, without its constant signals.
struct Channel<'a> {
    name: &'static str,
    /// From the engine to the memory.
    asks: bool,
    valid: &'a Port,
    ready: &'a Port,
    payload: Vec<&'a Port>,
    /// All signals of an address channel.
    address: Option<&'a AxiAddress<Port>>,
}

/// A signal that crosses the borders.
struct Crossing {
    port: Port,
    /// From the engine to the memory.
    outward: bool,
    /// Of one cycle: it has a reset.
    pulse: bool,
}

/// An address channel.
fn address<'a>(name: &'static str, of: &'a AxiAddress<Port>) -> Channel<'a> {
    let payload = vec![&of.addr, &of.len];
    Channel { name, asks: true, valid: &of.valid, ready: &of.ready, payload, address: Some(of) }
}

fn of_read(bus: &AxiRead<Port>) -> Vec<Channel<'_>> {
    let AxiRead { ar, rdata, rresp, rlast, rvalid, rready } = bus;
    let payload = vec![rdata, rresp, rlast];
    vec![address("ar", ar), Channel { name: "r", asks: false, valid: rvalid, ready: rready, payload, address: None }]
}

fn of_write(bus: &AxiWrite<Port>) -> Vec<Channel<'_>> {
    let AxiWrite { aw, wdata, wstrb, wlast, wvalid, wready, bresp, bvalid, bready } = bus;
    let payload = vec![wdata, wstrb, wlast];
    vec![
        address("aw", aw),
        Channel { name: "w", asks: true, valid: wvalid, ready: wready, payload, address: None },
        Channel { name: "b", asks: false, valid: bvalid, ready: bready, payload: vec![bresp], address: None },
    ]
}

impl Channel<'_> {
    /// VALID and the payload.
    fn signals(&self) -> impl Iterator<Item = &Port> {
        [self.valid].into_iter().chain(self.payload.iter().copied())
    }

    /// Connects the channel of an engine to the same channel of the first station.
    fn join(&self, engine: Instance<'_>, station: Instance<'_>, of_station: &Channel) {
        for (own, other) in self.signals().zip(of_station.signals()) {
            if self.asks {
                other.set(station, own.out(engine));
            } else {
                own.set(engine, other.out(station));
            }
        }
        if self.asks {
            self.ready.set(engine, of_station.ready.out(station));
        }
    }

    /// Declares the payload as inputs.
    fn payload<'m>(&self, m: &'m ModuleBuilder) -> Sig<'m> {
        pack(m, &self.payload.iter().map(|port| port.input(m)).collect::<Vec<_>>())
    }
    /// The payload of an item.
    fn unpacked<'m>(&self, item: Sig<'m>) -> Vec<Sig<'m>> {
        unpack(item, &self.payload.iter().map(|port| port.ty).collect::<Vec<Ty>>())
    }
    /// Declares VALID and the payload as outputs.
    fn output<'m>(&self, m: &'m ModuleBuilder, valid: Sig<'m>, item: Sig<'m>) {
        self.valid.output(m, valid);
        self.payload.iter().zip(self.unpacked(item)).for_each(|(port, value)| port.output(m, value));
    }
    fn valid(&self) -> Crossing {
        Crossing { port: Port::bit(format!("{}_valid", self.name)), outward: self.asks, pulse: true }
    }
    fn item(&self) -> Crossing {
        let bits = self.payload.iter().map(|port| port.ty.w).sum();
        Crossing { port: Port::new(self.name, u(bits)), outward: self.asks, pulse: false }
    }
    /// An item was taken from the FIFO.
    fn taken(&self) -> Crossing {
        Crossing { port: Port::bit(format!("{}_taken", self.name)), outward: false, pulse: true }
    }
    fn crossings(&self) -> impl Iterator<Item = Crossing> {
        [self.valid(), self.item()].into_iter().chain(self.asks.then(|| self.taken()))
    }
}

impl Crossing {
    /// Port of the station that sends, and of the one that receives.
    fn sent(&self) -> Port {
        Port::new(format!("{}_out", self.port.name), self.port.ty)
    }
    fn received(&self) -> Port {
        Port::new(format!("{}_in", self.port.name), self.port.ty)
    }
    fn register<'m>(&self, m: &'m ModuleBuilder, end: &str, value: Sig<'m>, rst: Sig<'m>) -> Sig<'m> {
        let register = border::register(m, &self.port.name, end, self.port.ty).next(value);
        border::kept(if self.pulse { register.rst(rst, 0) } else { register }.q())
    }
    fn send<'m>(&self, m: &'m ModuleBuilder, value: Sig<'m>, rst: Sig<'m>) {
        self.sent().output(m, self.register(m, border::SENDS, value, rst));
    }
    fn receive<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>) -> Sig<'m> {
        self.register(m, border::RECEIVES, self.received().input(m), rst)
    }
}

impl Route {
    /// `None` if engines and memory are on one die.
    pub fn from_vsa(vsa: &Vsa, port: usize, reads: bool, writes: bool) -> Option<Route> {
        let borders = vsa.borders(port) as u32;
        let bus = Bus { bytes: vsa.bus_bytes(port), address_bits: vsa.port_address_bits(port) };
        (borders > 0).then_some(Route { bus, reads, writes, borders })
    }

    /// The bus of the engines, or of the IP.
    fn ports(&self, prefix: &str) -> StationPorts {
        StationPorts {
            read: self.reads.then(|| AxiRead::ports(prefix, self.bus)),
            write: self.writes.then(|| AxiWrite::ports(prefix, self.bus)),
        }
    }

    /// Instantiates the stations, each with its `name`, and connects them to the engines. Returns the last one, and its bus.
    pub(crate) fn build<'m>(
        &self,
        m: &'m ModuleBuilder,
        d: &mut Design,
        name: impl Fn(u32) -> String,
        live: Sig<'m>,
        (reader, writer): (At<'_, 'm, AxiRead<Port>>, At<'_, 'm, AxiWrite<Port>>),
    ) -> (Instance<'m>, StationPorts) {
        let stations: Vec<Instance<'m>> = (0..=self.borders)
            .map(|place| {
                let module = d.module(Station { route: *self, place });
                let station = m.instance(d, name(place), &module);
                Station::live().set(station, live);
                station
            })
            .collect();
        let inner = self.ports("s_axi_");
        let engines =
            [reader.map(|(engine, bus)| (engine, of_read(bus))), writer.map(|(engine, bus)| (engine, of_write(bus)))];
        for ((engine, own), other) in engines.into_iter().zip(inner.by_way()).filter_map(|(e, way)| Some((e?, way))) {
            own.iter().zip(&other).for_each(|(own, other)| own.join(engine, stations[0], other));
        }
        for pair in stations.windows(2) {
            for crossing in inner.crossings() {
                let [from, to] = if crossing.outward { [pair[0], pair[1]] } else { [pair[1], pair[0]] };
                crossing.received().set(to, crossing.sent().out(from));
            }
        }
        (stations[self.borders as usize], self.ports("m_axi_"))
    }
}

/// The bus of a station at an end of the way.
#[derive(Clone, Debug, PartialEq)]
pub struct StationPorts {
    pub read: Option<AxiRead<Port>>,
    pub write: Option<AxiWrite<Port>>,
}

impl StationPorts {
    /// The channels of reads and of writes.
    fn by_way(&self) -> [Vec<Channel<'_>>; 2] {
        [self.read.as_ref().map_or(vec![], of_read), self.write.as_ref().map_or(vec![], of_write)]
    }
    fn channels(&self) -> Vec<Channel<'_>> {
        self.by_way().into_iter().flatten().collect()
    }
    fn crossings(&self) -> Vec<Crossing> {
        self.channels().iter().flat_map(Channel::crossings).collect()
    }
}

/// The station at this place of a way, counted from the engines.
#[derive(Clone, Debug, PartialEq)]
struct Station {
    route: Route,
    place: u32,
}

impl Template for Station {
    fn name(&self) -> String {
        format!("axi_station{}", self.place)
    }

    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let Station { route, place } = self;
        m.doc(format!(
            "Station {place} on the way of an AXI port over {} border(s) of dies, for one die. All that enters and leaves over \
             a border has a register here.",
            route.borders
        ));
        m.module_attr("keep_hierarchy", "yes");
        let rst = !Station::live().input(m);
        if *place == 0 {
            route.ports("s_axi_").channels().iter().for_each(|c| self.first(m, rst, c));
        } else if *place == route.borders {
            route.ports("m_axi_").channels().iter().for_each(|c| self.last(m, rst, c));
        } else {
            let ports = route.ports("");
            ports.crossings().iter().for_each(|c| c.send(m, c.receive(m, rst), rst));
        }
    }
}

impl Station {
    fn live() -> Port {
        Port::bit("live")
    }

    fn places(&self) -> u32 {
        away::places(self.route.borders.into()) as u32
    }

    /// A channel at the engine.
    fn first<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>, c: &Channel) {
        if !c.asks {
            return c.output(m, c.valid().receive(m, rst), c.item().receive(m, rst));
        }
        let (name, places) = (c.name, self.places());
        let (left, ready) =
            (m.reg(format!("{name}_left"), u(clog2(places.into()) + 1)), m.reg(format!("{name}_some"), u(1)));
        let sent = (c.valid.input(m) & ready.q()).named(format!("{name}_sent"));
        let taken = c.taken().receive(m, rst);
        let changes = sent ^ taken;
        left.next(m.mux(taken, left.q().add_lit(1), left.q().sub_lit(1))).en(changes).rst(rst, places);
        ready.next(taken | left.q().ne_lit(1)).en(changes).rst(rst, 1);
        m.assert(rst, format!("{name} has {places} places at most"), !taken | left.q().ne_lit(places));
        c.ready.output(m, ready.q());
        c.valid().send(m, sent, rst);
        c.item().send(m, c.payload(m), rst);
    }

    /// A channel at the memory.
    fn last<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>, c: &Channel) {
        if !c.asks {
            c.ready.output(m, m.lit(1, u(1)));
            c.valid().send(m, c.valid.input(m), rst);
            return c.item().send(m, c.payload(m), rst);
        }
        let (arrives, item) = (c.valid().receive(m, rst), c.item().receive(m, rst));
        let taken = m.wire(format!("{}_takes", c.name), u(1));
        let deep = Deep { places: self.places(), slice: false };
        let fifo = deep_fifo(m, &format!("{}_fifo", c.name), deep, rst, arrives, item, taken.sig());
        m.assert(rst, format!("{} has a place for every item", c.name), !arrives | fifo.room);
        taken.drive(fifo.valid & c.ready.input(m));
        match (c.address, &c.unpacked(fifo.head)[..]) {
            (Some(ports), [address, len]) => {
                drive_ports(m, self.route.bus.bytes, ports, fifo.valid, [*address, *len]);
            }
            _ => c.output(m, fifo.valid, fifo.head),
        }
        c.taken().send(m, taken.sig(), rst);
    }
}
