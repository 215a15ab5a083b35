//! `Ip`: what one IP executes. Its cores are arrays with engines and sequencers of their own; its functions are what a
//! host calls. A function refers to the core that runs it: functions with equal arrays share one, whatever names the C
//! text gives things. One function runs at a time.

use crate::contract::program::{self, Register};
use crate::vsa::{Home, Remarks, Vsa};
use uniform::sizes::Formula;

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Name of the IP; with a single function, that function's.
    pub name: String,
    /// Different from one another, names aside.
    pub cores: Vec<Vsa>,
    /// At least one; a host chooses by the index.
    pub functions: Vec<Function>,
    pub queue: Queue,
}

/// The queue of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Commands that can wait for those before them; none: the host starts each run.
    pub commands: u32,
    /// Commands of which the host says so begin while those before them are under way, see
    /// [`crate::contract::overlap`].
    pub overlap: bool,
}

/// What a host calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Index into [`Ip::cores`].
    pub core: usize,
    /// Index into [`Vsa::functions`], if the core is a merged array.
    pub member: Option<usize>,
    /// In the order of the C function's parameters.
    pub arguments: Vec<Argument>,
    /// Index into the core's list of sizes, and the name in C.
    pub sizes: Vec<(usize, String)>,
}

/// An argument of a function, and what it is to the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// In C.
    pub name: String,
    pub is: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Index into [`Vsa::arrays`].
    Array(usize),
    /// Index into [`Vsa::scalars`].
    Scalar(usize),
}

/// Commands that a queue can hold at most.
pub const LONGEST_QUEUE: u32 = 1024;

/// Functions that an IP can have at most: the register of their number has eight bits.
pub const MOST_FUNCTIONS: usize = 255;

/// # Errors
/// A depth that no queue has.
pub fn queue(depth: u32) -> Result<u32, String> {
    if depth.is_power_of_two() && (2..=LONGEST_QUEUE).contains(&depth) {
        return Ok(depth);
    }
    Err(format!("a queue of {depth} commands: write a power of two from 2 to {LONGEST_QUEUE}"))
}

impl Ip {
    /// Functions, each with its array, in one IP.
    pub fn new(name: &str, queue: Queue, arrays: &[&Vsa]) -> Ip {
        let (mut cores, mut functions) = (Vec::<Vsa>::new(), vec![]);
        let mut shapes: Vec<Vsa> = vec![];
        for vsa in arrays {
            let shape = nameless(vsa);
            let core = shapes.iter().position(|s| *s == shape).unwrap_or(shapes.len());
            if core == shapes.len() {
                shapes.push(shape);
                cores.push((*vsa).clone());
            }
            if vsa.is_merged() {
                functions.extend((0..vsa.functions.len()).map(|f| Function::merged(vsa, core, f)));
                continue;
            }
            let sizes = vsa.sizes.list.iter().map(|s| s.name.clone()).enumerate().collect();
            let name = vsa.name.clone();
            functions.push(Function { name, core, member: None, arguments: arguments(vsa), sizes });
        }
        Ip { name: name.to_string(), cores, functions, queue }
    }

    /// Program registers that the host writes before a run of a function, each with its index among those of the core.
    pub fn registers(&self, function: usize) -> Vec<(usize, Register)> {
        let Function { member, sizes, .. } = &self.functions[function];
        let core = self.core_of(function);
        let all = program::of(core).into_iter().enumerate();
        let Some(member) = member else { return all.collect() };
        let maxima: Vec<i64> = sizes.iter().map(|(k, _)| core.sizes.list[*k].max).collect();
        let own = |k: u32| sizes.iter().position(|s| s.0 == k as usize);
        let of_function = |formula: &Formula| formula.in_function(*member).renumbered(&own);
        all.map(|(n, r)| (n, of_function(&r.formula)))
            .filter(|(_, formula)| !matches!(formula, Formula::Const(_)))
            .map(|(n, formula)| (n, Register::new(formula, &maxima)))
            .collect()
    }

    /// Why runs cannot overlap; `None` if they can.
    pub fn no_overlap(&self) -> Option<String> {
        let numbers = (0..self.functions.len()).find(|f| !self.registers(*f).is_empty());
        if let Some(f) = numbers {
            let name = &self.functions[f].name;
            return Some(format!(
                "the sizes of `{name}` are known at run time, and the host computes numbers from them"
            ));
        }
        (self.cores.len() > 1).then(|| format!("the functions have {} arrays of their own", self.cores.len()))
    }

    /// The core that runs a function.
    pub fn core_of(&self, function: usize) -> &Vsa {
        &self.cores[self.functions[function].core]
    }
}

impl Function {
    /// Function `f` of a merged array.
    fn merged(vsa: &Vsa, core: usize, f: usize) -> Function {
        let (alone, member) = (vsa.of_function(f), &vsa.functions[f]);
        let place = |is: Source| match is {
            Source::Array(k) => Source::Array(member.arrays[k].0),
            Source::Scalar(k) => Source::Scalar(member.scalars[k].0),
        };
        let arguments = arguments(&alone).into_iter().map(|a| Argument { is: place(a.is), ..a }).collect();
        Function { name: member.name.clone(), core, member: Some(f), arguments, sizes: member.sizes.clone() }
    }
}

impl From<&Vsa> for Ip {
    /// The IP of one function.
    fn from(vsa: &Vsa) -> Ip {
        Ip::new(&vsa.name, Queue::default(), &[vsa])
    }
}

/// The array without its names and its remarks: arrays that are equal then are the same hardware. What an array keeps on chip
/// from run to run is its own.
fn nameless(vsa: &Vsa) -> Vsa {
    let mut shape = Vsa { remarks: Remarks::default(), ..vsa.clone() };
    if vsa.arrays.iter().all(|a| a.home != Home::Kept) {
        shape.name.clear();
    }
    shape.axes.iter_mut().for_each(String::clear);
    shape.counters.iter_mut().for_each(|c| c.name.clear());
    shape.nodes.iter_mut().for_each(|n| n.name.clear());
    shape.arrays.iter_mut().for_each(|a| a.name.clear());
    shape.scalars.iter_mut().for_each(|s| s.name.clear());
    shape.sizes.list.iter_mut().for_each(|s| s.name.clear());
    shape
}

/// Arrays and scalars as they stand among the function's parameters; arrays on chip are none.
fn arguments(vsa: &Vsa) -> Vec<Argument> {
    let scalar = |s: usize| Argument { name: vsa.scalars[s].name.clone(), is: Source::Scalar(s) };
    let array = |k: usize| Argument { name: vsa.arrays[k].name.clone(), is: Source::Array(k) };
    let before = |k: usize| (0..vsa.scalars.len()).filter(move |&s| vsa.scalars[s].after as usize == k).map(scalar);
    let upto = |k: usize| before(k).chain((k < vsa.hosted()).then(|| array(k)));
    (0..=vsa.hosted()).flat_map(upto).collect()
}
