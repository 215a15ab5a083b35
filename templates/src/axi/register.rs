//! Registers that the host writes through the AXI4-Lite port.

use rtl::{u, ModuleBuilder, Sig};

/// Write port of the register file: a write happens in this cycle (`now`).
pub(super) struct Write<'m> {
    pub now: Sig<'m>,
    /// In words of 4 bytes.
    pub address: Sig<'m>,
    pub data: Sig<'m>,
    pub strobe: Sig<'m>,
}

impl<'m> Write<'m> {
    /// The register at `offset` is written.
    pub fn to(&self, m: &'m ModuleBuilder, offset: u32) -> Sig<'m> {
        (self.now & self.address.eq(m.lit(offset / 4, self.address.ty()))).called(format!("writes_{offset:02x}"))
    }
    /// A 1 is written to bit `i`.
    pub fn sets(&self, m: &'m ModuleBuilder, offset: u32, i: u32) -> Sig<'m> {
        (self.to(m, offset) & self.strobe.bit(i / 8)).called(format!("writes_{offset:02x}_byte{}", i / 8))
            & self.data.bit(i)
    }
    /// A register of one bit.
    pub fn flag(&self, m: &'m ModuleBuilder, name: &str, rst: Sig<'m>, offset: u32, i: u32) -> Sig<'m> {
        let en = (self.to(m, offset) & self.strobe.bit(i / 8)).called(format!("writes_{offset:02x}_byte{}", i / 8));
        m.reg(name, u(1)).next(self.data.bit(i)).en(en).rst(rst, 0).q()
    }
    /// A register of 8 to 32 bits with byte strobes.
    pub fn word(&self, m: &'m ModuleBuilder, name: &str, rst: Sig<'m>, offset: u32, bits: u32) -> Sig<'m> {
        let byte = |i: u32| {
            let en = self.to(m, offset) & self.strobe.bit(i);
            m.reg(format!("{name}_byte{i}"), u(8)).next(self.data.slice(8 * i, 8)).en(en).rst(rst, 0).q()
        };
        m.concat(&(0..bits.div_ceil(8)).rev().map(byte).collect::<Vec<_>>()).called(name)
    }
}
