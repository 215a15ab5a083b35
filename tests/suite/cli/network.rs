//! `--network`: the layers of a file as the functions of one IP.

use super::*;

const LAYER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/layer.c");
const NET: &str = "[[layer]]\nname = \"first one\"\ndefine = { O = 4, I = 4, S = 2 }\n[[layer]]\ntimes = 2\n\
    define = { O = 8, I = 4, S = 4 }\n";

/// Each layer is a function. The C programs beside the IP have the macros of their layers.
#[test]
fn layers_are_functions_of_one_ip() {
    let dir = tempfile::tempdir().unwrap();
    let net = kernel(dir.path(), "net.toml", NET);
    let out = dir.path().join("out");
    let report = json(&["rtl", LAYER, "--network", &net, "--json", "-o", &out.to_string_lossy()]);
    let names: Vec<&String> = report["functions"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["layer_2", "layer_first_one"], "{report}");
    assert!(out.join("rtl/net.v").exists() && out.join("vsa.txt").exists());
    let reference = |name: &str| fs::read_to_string(out.join(format!("sw/reference_{name}.c"))).unwrap();
    assert!(reference("layer_2").contains("#define O 8\n") && reference("layer_first_one").contains("#define O 4\n"));
    let driver = fs::read_to_string(out.join("sw/xnet.h")).unwrap();
    assert!(driver.contains("net_layer_first_one("), "{driver}");
}

/// Runs of a layer are its weight, and `--weights` wins: what runs more often gets more of the lanes.
#[test]
fn layers_weigh_as_often_as_they_run() {
    let dir = tempfile::tempdir().unwrap();
    let net = kernel(dir.path(), "net.toml", NET);
    let output = sagen(&["rtl", LAYER, "--network", &net, "--weights", "second=3", "--emit", "vsa"]);
    assert!(text(&output.stderr).contains("no function has this name; there are layer_first_one, layer_2"));
}

/// A layer of few channels gets an array like that of the layer of many, with lanes along its kernel instead.
#[test]
fn a_layer_of_few_channels_has_lanes_along_its_kernel() {
    let dir = tempfile::tempdir().unwrap();
    let net = "[[layer]]\nname = \"image\"\ndefine = { O = 16, I = 3, S = 8, Q = 3 }\n\
        [[layer]]\nname = \"body\"\ntimes = 4\ndefine = { O = 16, I = 16, S = 8, Q = 3 }\n";
    let body = "[function.layer_body]\nspace = [\"o\", \"r\"]\nsimd = { i = 16 }\ntile = { o = 4, r = 2 }\n";
    let (net, design) = (kernel(dir.path(), "net.toml", net), kernel(dir.path(), "design.toml", body));
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let options = ["--network", &net, "--design", &design, "--board", "u250"];
    let said = stdout(&[&["rtl", LAYER, "-o", &out], &options[..]].concat());
    for part in ["layer_image: 4×2 PEs over (o, r), 9 lanes", "layer_body: 4×2 PEs over (o, r), 16 lanes"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let simulated = json(&[&["sim", LAYER, "--sequence", "8", "--json"], &options[..]].concat());
    assert_eq!(simulated["match"], true, "{simulated}");
}

/// Layers with the same program are one function. A layer is chosen by its name.
#[test]
fn equal_layers_are_one_function() {
    let dir = tempfile::tempdir().unwrap();
    let equal = format!("{NET}[[layer]]\nname = \"last\"\ndefine = {{ O = 8, I = 4, S = 4, T = 1 }}\n");
    let net = kernel(dir.path(), "net.toml", &equal);
    let output = sagen(&["sim", LAYER, "--network", &net, "--memory", "ideal", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["functions"].as_object().unwrap().len(), 2, "{report}");
    assert!(text(&output.stderr).contains("layer last has the program of layer 2"), "{}", text(&output.stderr));
    let one = json(&["sim", LAYER, "--network", &net, "--function", "layer_2", "--memory", "ideal", "--json"]);
    assert_eq!((&one["kernel"], &one["match"]), (&Value::from("layer_2"), &Value::Bool(true)));
}

#[test]
fn bad_networks_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let good = kernel(dir.path(), "net.toml", NET);
    let two = kernel(dir.path(), "two.c", &format!("{MM}{MV}"));
    let scop = kernel(dir.path(), "mm.scop", "");
    let refused = |files: &[&str], net: &str, more: &[&str]| {
        let output = sagen(&[&["rtl"], files, &["--network", net], more].concat());
        assert_eq!(code(&output), 1, "{files:?} {net}");
        text(&output.stderr)
    };
    for (files, more, why) in [
        (&[LAYER, &two][..], &[][..], "--network is about one C file"),
        (&[&two], &[], "is about one function, but"),
        (&[&scop], &[], "is the text of a stage"),
        (&[LAYER], &["--function", "layer_last"], "functions with one: layer_first_one, layer_2"),
    ] {
        let told = refused(files, &good, more);
        assert!(told.contains(why), "{told}");
    }
    for (net, why) in [
        (
            "[[layer]]\nname = \"a b\"\ndefine = { O = 4 }\n[[layer]]\nname = \"a_b\"\ndefine = { O = 2 }\n",
            "rename one of them",
        ),
        ("[[layer]]\nname = \"bad\"\ndefine = { O = \"(\" }\n", "layer bad of"),
        ("[[layer]]\nname = \"none\"\n", "missing field `define`"),
    ] {
        let told = refused(&[LAYER], &kernel(dir.path(), "bad.toml", net), &[]);
        assert!(told.contains(why), "{told}");
    }
}
