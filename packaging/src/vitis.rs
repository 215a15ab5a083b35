//! Vitis and XRT: `kernel.xml`, the configuration of the linker, and the `.xo` for `v++`.

use crate::xml::{group, Element};
use crate::{quote, types, File, Ip, LIBRARY, VENDOR, VERSION};
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use templates::interface::Argument;
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::CompressionMethod;

/// `kernel.xml` (UG1393, RTL kernels). Registers start one run at a time.
pub fn kernel(ip: &Ip) -> String {
    let interface = ip.interface;
    let port = |name: &str, mode: &str, range: &str, bits: u32| {
        let port = group("port", []).with("name", name).with("mode", mode).with("range", range).with("dataWidth", bits);
        port.with("portType", "addressable").with("base", "0x0")
    };
    let range = |bits: u32| if bits > 32 { "0xFFFFFFFFFFFFFFFF" } else { "0xFFFFFFFF" };
    let ports = [port(interface.control, "slave", "0x1000", 32)];
    let managers = interface.ports.iter().map(|p| port(&p.name, "master", range(p.address_bits), p.data_bits));
    let all = ip.all().flat_map(|(f, _)| f.arguments.iter().map(move |a| (ip.argument_name(f, a), a)));
    // The function's number comes first, then the arguments of all functions. A run sets only those of its function.
    let number = interface.layout.function().map(|at| scalar(ip, "function", at));
    let first = usize::from(number.is_some());
    let arguments = number.into_iter().chain(all.enumerate().map(|(k, (name, a))| argument(ip, first + k, &name, a)));
    let mut arguments: Vec<Element> = arguments.collect();
    for (function, _) in ip.all() {
        for p in &function.program {
            let (bits, offset) = (p.register.bits, p.offset);
            arguments.push(value(ip, arguments.len(), &ip.register_name(function, p), [bits, offset]));
        }
    }
    for (function, _) in ip.all() {
        for (_, length) in function.lengths() {
            let register = [length.bits, length.offset];
            arguments.push(value(ip, arguments.len(), &ip.length_name(function, length), register));
        }
    }
    let kernel = group("kernel", [group("ports", ports.into_iter().chain(managers)), group("args", arguments)]);
    let kernel =
        kernel.with("name", &interface.kernel).with("language", "ip_c").with("vlnv", ip.vlnv()).with("attributes", "");
    let kernel = kernel
        .with("preferredWorkGroupSizeMultiple", 0)
        .with("workGroupSize", 1)
        .with("interrupt", "true")
        .with("hwControlProtocol", "ap_ctrl_hs");
    group("root", [kernel]).with("versionMajor", 1).with("versionMinor", 6).document()
}

fn scalar(ip: &Ip, name: &str, offset: u32) -> Element {
    let arg = group("arg", [])
        .with("name", name)
        .with("addressQualifier", 0)
        .with("id", 0)
        .with("port", ip.interface.control);
    let arg = arg
        .with("size", "0x4")
        .with("offset", format!("0x{offset:03X}"))
        .with("hostOffset", "0x0")
        .with("hostSize", "0x4");
    arg.with("type", "uint")
}

/// A value that the host computes from sizes, see `sw/x<kernel>.h`, or the length of an array.
fn value(ip: &Ip, id: usize, name: &str, [bits, offset]: [u32; 2]) -> Element {
    let (size, ty) = if bits > 32 { ("0x8", "ulong") } else { ("0x4", "uint") };
    let arg = group("arg", [])
        .with("name", name)
        .with("addressQualifier", 0)
        .with("id", id)
        .with("port", ip.interface.control);
    arg.with("size", size)
        .with("offset", format!("0x{offset:03X}"))
        .with("hostOffset", "0x0")
        .with("hostSize", size)
        .with("type", ty)
}

fn argument(ip: &Ip, id: usize, name: &str, a: &Argument) -> Element {
    let (qualifier, port, size, pointer) = match a.array() {
        Some(array) => (1, ip.interface.ports[array.port].name.as_str(), array.address_bits / 8, "*"),
        None => (0, ip.interface.control, a.ty.bytes(), ""),
    };
    let arg = group("arg", []).with("name", name).with("addressQualifier", qualifier).with("id", id).with("port", port);
    let arg = arg
        .with("size", format!("0x{size:x}"))
        .with("offset", format!("0x{:03X}", a.offset))
        .with("hostOffset", "0x0")
        .with("hostSize", format!("0x{size:x}"));
    arg.with("type", format!("{}{pointer}", types::opencl(a.ty)))
}

/// The configuration for `v++ -l`.
pub fn link(ip: &Ip) -> String {
    let (kernel, board) = (&ip.interface.kernel, ip.board);
    let mut text = format!(
        "# v++ -l -t hw --platform <platform of {}> --config {kernel}.cfg -o {kernel}.xclbin ../{kernel}.xo\n",
        quote::comment(&board.name)
    );
    let _ = writeln!(text, "kernel_frequency={}\n\n[connectivity]\nnk={kernel}:1:{kernel}_1", board.clock_mhz.floor());
    for (function, more) in ip.all() {
        for (argument, bank) in function.arguments.iter().zip(&more.banks) {
            if let Some(bank) = bank {
                let _ = writeln!(text, "sp={kernel}_1.{}:{bank}", ip.argument_name(function, argument));
            }
        }
    }
    text
}

/// The kernel object: a zip archive of `kernel.xml`, the IP and `xo.xml` in the layout of `package_xo` 2019.2. Members
/// are sorted and have the first date of the zip format.
///
/// # Errors
/// The archive cannot be written.
pub fn xo(ip: &Ip, component: &File, gui: &File, description: &File) -> Result<Vec<u8>, String> {
    let kernel = &ip.interface.kernel;
    let folder = format!("{VENDOR}_{LIBRARY}_{kernel}_{}", VERSION.replace('.', "_"));
    let mut members: Vec<(String, &[u8])> = vec![(format!("{kernel}/kernel.xml"), &description.bytes)];
    let inside = [component, gui].into_iter().chain(&ip.rtl).chain(&ip.constraints).chain(&ip.floorplan);
    members.extend(inside.map(|f| (format!("ip_repo/{folder}/{}", f.path), f.bytes.as_slice())));
    let index = index(kernel, &folder, ip.revision());
    members.push(("xo.xml".into(), index.as_bytes()));
    members.sort();
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in members {
        zip.start_file(path.as_str(), options).map_err(|e| e.to_string())?;
        zip.write_all(bytes).map_err(|e| e.to_string())?;
    }
    Ok(zip.finish().map_err(|e| e.to_string())?.into_inner())
}

fn index(kernel: &str, folder: &str, revision: u32) -> String {
    let leaf = |name: &str| group(name, []);
    let flows = ["HW_EMU", "SYSTEM"].map(|flow| crate::xml::leaf("SupportedFlow", flow));
    let entry = group("Kernel", [group("SupportedFlows", flows)])
        .with("Name", kernel)
        .with("Dir", kernel)
        .with("IP", format!("ip_repo/{folder}"));
    let entry = entry
        .with("TopIpDir", ".")
        .with("ProjectID", format!("{revision:032x}"))
        .with("Debug", "no")
        .with("Hls", "no")
        .with("Pdi", "no")
        .with("ShimSoln", "no");
    let root = group("Root", [leaf("IpCaches"), group("Kernels", [entry])]);
    let root = root
        .with("VersionMajor", 5)
        .with("VersionMinor", 2)
        .with("SoftwareVersionMajor", 2019)
        .with("SoftwareVersionMinor", 2);
    root.with("IpCache", "no").document()
}
