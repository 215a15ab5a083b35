//! Confines a program that sagen starts.
//!
//! Two degrees:
//!
//! - [`lead`]: every program leads a process group of its own, and ends when sagen ends, however that happens.
//! - [`Confinement`]: the user's own program also has no network, starts no processes, sends no signals to others, and
//!   writes only in its folder. It may read what the user may read. Linux only: Landlock guards the files, seccomp the
//!   system calls. Where the kernel lacks one of them, [`lacking`] says so.
//!
//! All of it is installed between `fork` and `exec`. This is the only unsafe code of the crate: `docs/promises.md`
//! lists all unsafe code, and a test compares.

use std::io;
use std::path::PathBuf;
use std::process::Command;

/// What the user's program may do.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// The one folder in which it may write.
    pub folder: PathBuf,
    /// No file that it writes becomes longer.
    pub longest_file: u64,
}

/// Gives the program a process group of its own, and ends it when this thread ends.
pub fn lead(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(all(target_os = "linux", target_endian = "little"))]
    {
        let parent = rustix::process::getpid();
        before_exec(command, move || {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            // The parent may have ended before the line above.
            match rustix::process::getppid() == Some(parent) {
                true => Ok(()),
                false => Err(io::ErrorKind::BrokenPipe.into()),
            }
        });
    }
}

impl Confinement {
    /// Confines the program that `command` starts, as far as the system can.
    ///
    /// # Errors
    /// The folder cannot be opened, or the kernel refuses the rules.
    #[cfg(all(target_os = "linux", target_endian = "little"))]
    pub fn of(&self, command: &mut Command) -> io::Result<()> {
        use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
        let mut rules = Some(linux::files(&self.folder).map_err(io::Error::other)?);
        let mut filters = linux::filters().map_err(io::Error::other)?;
        let (longest, none) = (Some(self.longest_file), Some(0));
        before_exec(command, move || {
            setrlimit(Resource::Fsize, Rlimit { current: longest, maximum: longest })?;
            setrlimit(Resource::Core, Rlimit { current: none, maximum: none })?;
            // Programs keep their arrays in `main`, more than the usual stack holds.
            let Rlimit { maximum, .. } = getrlimit(Resource::Stack);
            setrlimit(Resource::Stack, Rlimit { current: maximum, maximum })?;
            linux::install(rules.take(), &mut filters)
        });
        Ok(())
    }

    /// Other systems have no such means.
    ///
    /// # Errors
    /// None.
    #[cfg(not(all(target_os = "linux", target_endian = "little")))]
    pub fn of(&self, _command: &mut Command) -> io::Result<()> {
        Ok(())
    }
}

/// What this system lacks for [`Confinement`], if anything.
pub fn lacking() -> Option<&'static str> {
    #[cfg(all(target_os = "linux", target_endian = "little"))]
    return linux::lacking();
    #[cfg(not(all(target_os = "linux", target_endian = "little")))]
    Some("only Linux has the means")
}

/// Has the child run `job` between `fork` and `exec`.
#[cfg(all(target_os = "linux", target_endian = "little"))]
fn before_exec(command: &mut Command, job: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the child of a process with threads may only do what is async-signal-safe. Every `job` of this file makes
    // system calls on memory that was allocated before the fork; it takes no lock, and allocates and frees nothing.
    // Dropping the Landlock rules closes a file.
    #[allow(unsafe_code)]
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, job);
    }
}

#[cfg(all(target_os = "linux", target_endian = "little"))]
mod linux {
    use landlock::{
        Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, Scope, ABI,
    };
    use rustix::thread::{CapabilitySet, CapabilitySets};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        TargetArch,
    };
    use std::collections::BTreeMap;
    use std::io;
    use std::path::Path;

    /// The newest rules that are asked for. An older kernel enforces those that it has.
    const NEWEST: ABI = ABI::V6;

    /// System calls that fail, with "not permitted".
    const DENIED: &[libc::c_long] = &[
        // Network, and its ways around a filter.
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_io_uring_setup,
        // Other processes.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_tkill,
        libc::SYS_setpriority,
        libc::SYS_setpgid,
        libc::SYS_setsid,
        libc::SYS_shmget,
        libc::SYS_shmat,
        libc::SYS_semget,
        libc::SYS_msgget,
        libc::SYS_mq_open,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        // Files, where Landlock does not look: attributes, and the length on older kernels.
        libc::SYS_truncate,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        libc::SYS_utimensat,
        FCHMODAT2,
        SETXATTRAT,
        REMOVEXATTRAT,
        FILE_SETATTR,
        libc::SYS_name_to_handle_at,
        libc::SYS_open_by_handle_at,
        // The system.
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_vfork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utime,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utimes,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat,
    ];

    // Newer calls, which have the same number on all processors.
    const FCHMODAT2: libc::c_long = 452;
    const SETXATTRAT: libc::c_long = 463;
    const REMOVEXATTRAT: libc::c_long = 466;
    const FILE_SETATTR: libc::c_long = 469;

    /// No right of root.
    const NO_CAPABILITIES: CapabilitySets = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };

    /// Stands for the program's own number, which is known only behind the fork.
    const OWN: u32 = 0x7edc_ba98;

    /// The folder in which the program may write, the files that it may read, no ports, no signals to others.
    pub fn files(folder: &Path) -> Result<RulesetCreated, Box<dyn std::error::Error + Send + Sync>> {
        let rules = Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?
            .create()?
            .add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(NEWEST)))?
            .add_rule(PathBeneath::new(PathFd::new(folder)?, AccessFs::from_all(NEWEST)))?
            .add_rule(PathBeneath::new(PathFd::new("/dev/null")?, AccessFs::WriteFile | AccessFs::ReadFile))?;
        Ok(rules)
    }

    /// The filters of system calls. None where nobody has written them for the processor.
    pub fn filters() -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
        let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(vec![]) };
        let is = |argument, op, value: u64| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value);
        let when = |conditions| SeccompRule::new(conditions).map(|rule| vec![rule]);
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = DENIED.iter().map(|&call| (call, vec![])).collect();
        let thread = libc::CLONE_THREAD as u64;
        rules.insert(libc::SYS_clone, when(vec![is(0, SeccompCmpOp::MaskedEq(thread), 0)?])?);
        let death = libc::PR_SET_PDEATHSIG as u64;
        rules.insert(libc::SYS_prctl, when(vec![is(0, SeccompCmpOp::Eq, death)?])?);
        rules.insert(libc::SYS_prlimit64, when(vec![is(0, SeccompCmpOp::Ne, 0)?])?);
        for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo] {
            rules.insert(call, when(vec![is(0, SeccompCmpOp::Ne, u64::from(OWN))?])?);
        }
        #[cfg(target_arch = "x86_64")]
        {
            // The x32 numbers of the same calls.
            const X32: i64 = 0x4000_0000;
            rules.extend(rules.clone().into_iter().map(|(call, rule)| (call | X32, rule)));
        }
        // Threads are made by `clone` where the newer call, whose flags no filter sees, is not there.
        let newer = BTreeMap::from([(libc::SYS_clone3, vec![])]);
        let filter = |rules, errno: i32| -> Result<BpfProgram, seccompiler::BackendError> {
            SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32), arch)?.try_into()
        };
        Ok(vec![filter(rules, libc::EPERM)?, filter(newer, libc::ENOSYS)?])
    }

    /// Confines the calling process; it makes system calls only.
    pub fn install(rules: Option<RulesetCreated>, filters: &mut [BpfProgram]) -> io::Result<()> {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        // Root would keep the right to change the system.
        let _ = rustix::thread::set_capabilities(None, NO_CAPABILITIES);
        if let Some(rules) = rules {
            rules.restrict_self().map_err(|_| refused())?;
        }
        let own = rustix::process::getpid().as_raw_nonzero().get() as u32;
        for filter in filters {
            filter.iter_mut().filter(|instruction| instruction.k == OWN).for_each(|instruction| instruction.k = own);
            seccompiler::apply_filter(filter).map_err(|_| refused())?;
        }
        Ok(())
    }

    /// See [`super::lacking`].
    pub fn lacking() -> Option<&'static str> {
        let files = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))
            .and_then(Ruleset::create);
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let seccomp = status.lines().any(|line| line.starts_with("Seccomp:"));
        match (files.is_ok(), seccomp && TargetArch::try_from(std::env::consts::ARCH).is_ok()) {
            (true, true) => None,
            (false, true) => Some("the kernel lacks Landlock, so it can write wherever you can"),
            (true, false) => Some("the kernel lacks seccomp, so it can use the network and start processes"),
            (false, false) => Some("the kernel lacks Landlock and seccomp, so it can do what you can"),
        }
    }
}
