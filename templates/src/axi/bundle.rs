//! Bundles of AXI signals with the names of the standard. `S` is the port ([`Port`]) or the value of a signal.

use crate::interface::AxiPort;
use crate::port::Port;
use array::contract::walk::Walk;
use rtl::u;

/// Parameters of an AXI4 bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bus {
    /// Bytes of a data word.
    pub bytes: u32,
    pub address_bits: u32,
}

impl Bus {
    pub fn of(walk: &Walk) -> Bus {
        Bus { bytes: walk.bus_bytes(), address_bits: walk.address_bits }
    }

    /// Parameters of a port of the IP.
    pub fn at(port: &AxiPort) -> Bus {
        Bus { bytes: port.data_bits / 8, address_bits: port.address_bits }
    }
}

/// An address channel, `ar` or `aw`.
#[derive(Clone, Debug, PartialEq)]
pub struct AxiAddress<S> {
    pub id: S,
    pub addr: S,
    pub len: S,
    pub size: S,
    pub burst: S,
    pub lock: S,
    pub cache: S,
    pub prot: S,
    pub qos: S,
    pub valid: S,
    pub ready: S,
}

/// Read channels. `rid` is absent: the manager uses one identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct AxiRead<S> {
    pub ar: AxiAddress<S>,
    pub rdata: S,
    pub rresp: S,
    pub rlast: S,
    pub rvalid: S,
    pub rready: S,
}

/// Write channels, without `bid`.
#[derive(Clone, Debug, PartialEq)]
pub struct AxiWrite<S> {
    pub aw: AxiAddress<S>,
    pub wdata: S,
    pub wstrb: S,
    pub wlast: S,
    pub wvalid: S,
    pub wready: S,
    pub bresp: S,
    pub bvalid: S,
    pub bready: S,
}

/// AXI4-Lite, 32 bits of data.
#[derive(Clone, Debug, PartialEq)]
pub struct AxiLite<S> {
    pub awaddr: S,
    pub awvalid: S,
    pub awready: S,
    pub wdata: S,
    pub wstrb: S,
    pub wvalid: S,
    pub wready: S,
    pub bresp: S,
    pub bvalid: S,
    pub bready: S,
    pub araddr: S,
    pub arvalid: S,
    pub arready: S,
    pub rdata: S,
    pub rresp: S,
    pub rvalid: S,
    pub rready: S,
}

impl AxiAddress<Port> {
    fn ports(prefix: &str, bits: u32) -> Self {
        let p = |name: &str, bits: u32| Port::new(format!("{prefix}{name}"), u(bits));
        AxiAddress {
            id: p("id", 1),
            addr: p("addr", bits),
            len: p("len", 8),
            size: p("size", 3),
            burst: p("burst", 2),
            lock: p("lock", 1),
            cache: p("cache", 4),
            prot: p("prot", 3),
            qos: p("qos", 4),
            valid: p("valid", 1),
            ready: p("ready", 1),
        }
    }
}

impl<S> AxiAddress<S> {
    /// Signals that the manager drives.
    pub fn outputs(&self) -> Vec<&S> {
        vec![
            &self.id,
            &self.addr,
            &self.len,
            &self.size,
            &self.burst,
            &self.lock,
            &self.cache,
            &self.prot,
            &self.qos,
            &self.valid,
        ]
    }
}

impl AxiRead<Port> {
    /// Ports with this prefix.
    pub fn ports(prefix: &str, Bus { bytes, address_bits }: Bus) -> Self {
        let p = |name: &str, bits: u32| Port::new(format!("{prefix}{name}"), u(bits));
        AxiRead {
            ar: AxiAddress::ports(&format!("{prefix}ar"), address_bits),
            rdata: p("rdata", 8 * bytes),
            rresp: p("rresp", 2),
            rlast: p("rlast", 1),
            rvalid: p("rvalid", 1),
            rready: p("rready", 1),
        }
    }
}

impl<S> AxiRead<S> {
    /// Signals that the manager drives.
    pub fn outputs(&self) -> Vec<&S> {
        [self.ar.outputs(), vec![&self.rready]].concat()
    }
    /// Signals that the memory drives.
    pub fn inputs(&self) -> Vec<&S> {
        [self.handshakes(), self.payload()].concat()
    }
    /// Handshake signals that the memory drives.
    pub fn handshakes(&self) -> Vec<&S> {
        vec![&self.ar.ready, &self.rvalid]
    }
    /// Payload that the memory drives; it is meaningful only with `rvalid`.
    pub fn payload(&self) -> Vec<&S> {
        vec![&self.rdata, &self.rresp, &self.rlast]
    }
}

impl AxiWrite<Port> {
    /// Ports with this prefix.
    pub fn ports(prefix: &str, Bus { bytes, address_bits }: Bus) -> Self {
        let p = |name: &str, bits: u32| Port::new(format!("{prefix}{name}"), u(bits));
        AxiWrite {
            aw: AxiAddress::ports(&format!("{prefix}aw"), address_bits),
            wdata: p("wdata", 8 * bytes),
            wstrb: p("wstrb", bytes),
            wlast: p("wlast", 1),
            wvalid: p("wvalid", 1),
            wready: p("wready", 1),
            bresp: p("bresp", 2),
            bvalid: p("bvalid", 1),
            bready: p("bready", 1),
        }
    }
}

impl<S> AxiWrite<S> {
    /// Signals that the manager drives.
    pub fn outputs(&self) -> Vec<&S> {
        [self.aw.outputs(), vec![&self.wvalid, &self.wdata, &self.wlast, &self.wstrb, &self.bready]].concat()
    }
    /// Signals that the memory drives.
    pub fn inputs(&self) -> Vec<&S> {
        [self.handshakes(), self.payload()].concat()
    }
    /// Handshake signals that the memory drives.
    pub fn handshakes(&self) -> Vec<&S> {
        vec![&self.aw.ready, &self.wready, &self.bvalid]
    }
    /// Payload that the memory drives; it is meaningful only with `bvalid`.
    pub fn payload(&self) -> Vec<&S> {
        vec![&self.bresp]
    }
}

impl AxiLite<Port> {
    /// Ports with this prefix.
    pub fn ports(prefix: &str, address_bits: u32) -> Self {
        let p = |name: &str, bits: u32| Port::new(format!("{prefix}{name}"), u(bits));
        AxiLite {
            awaddr: p("awaddr", address_bits),
            awvalid: p("awvalid", 1),
            awready: p("awready", 1),
            wdata: p("wdata", 32),
            wstrb: p("wstrb", 4),
            wvalid: p("wvalid", 1),
            wready: p("wready", 1),
            bresp: p("bresp", 2),
            bvalid: p("bvalid", 1),
            bready: p("bready", 1),
            araddr: p("araddr", address_bits),
            arvalid: p("arvalid", 1),
            arready: p("arready", 1),
            rdata: p("rdata", 32),
            rresp: p("rresp", 2),
            rvalid: p("rvalid", 1),
            rready: p("rready", 1),
        }
    }
}

impl<S> AxiLite<S> {
    /// Signals that the manager drives.
    pub fn inputs(&self) -> Vec<&S> {
        vec![
            &self.awaddr,
            &self.awvalid,
            &self.wdata,
            &self.wstrb,
            &self.wvalid,
            &self.bready,
            &self.araddr,
            &self.arvalid,
            &self.rready,
        ]
    }
}
