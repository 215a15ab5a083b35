# Runs a Vivado script without Vivado: tclsh vivado.tcl SCRIPT [ARGUMENTS]. Commands that Vivado has are recorded, one a
# line on standard output; another command, an unknown option, too few or too many values are an error. The options are
# those of UG835 that public scripts use.
set script [file normalize [lindex $argv 0]]
set argv [lrange $argv 1 end]
set argc [llength $argv]
set calls {}
set objects 0

# Command, flags, options that take a value, least and most values.
set commands {
    create_project {-force -in_memory} {-part} 0 2
    current_project {} {} 0 1
    close_project {} {} 0 0
    current_fileset {} {} 0 0
    add_files {-norecurse} {-fileset} 1 1
    get_files {} {} 1 1
    update_compile_order {} {-fileset} 0 0
    set_param {} {} 2 2
    read_verilog {} {} 1 1
    read_xdc {} {-mode} 1 1
    synth_design {} {-top -part -mode -flatten_hierarchy} 0 0
    opt_design {} {} 0 0
    place_design {} {} 0 0
    phys_opt_design {} {} 0 0
    route_design {} {} 0 0
    write_checkpoint {-force} {} 1 1
    report_utilization {-hierarchical -slr} {-file} 0 0
    report_timing_summary {} {-file} 0 0
    report_power {} {-file} 0 0
    report_drc {} {-file} 0 0
    get_timing_paths {-setup -hold} {-max_paths -nworst} 0 0
    get_clocks {} {} 1 1
    get_ports {} {} 1 1
    create_clock {} {-name -period} 1 1
    package_xo {-force} {-xo_path -kernel_name -ip_directory -kernel_xml} 0 0
    update_ip_catalog {} {} 0 0
    get_board_parts {-quiet -latest_file_version} {} 0 1
    launch_runs {} {-to_step -jobs} 1 1
    wait_on_run {} {} 1 1
    get_runs {} {} 1 1
    open_run {} {} 1 1
    write_hw_platform {-fixed -include_bit -force} {-file} 0 0
    create_bd_design {} {} 1 1
    create_bd_cell {} {-type -vlnv} 1 1
    apply_bd_automation {} {-rule -config} 1 1
    get_bd_intf_pins {} {} 1 1
    get_bd_pins {} {} 1 1
    connect_bd_net {} {} 2 2
    assign_bd_address {} {} 0 0
    validate_bd_design {} {} 0 0
    save_bd_design {} {} 0 0
    generate_target {} {} 2 2
    make_wrapper {-top} {-files} 0 0
    ipx::package_project {-import_files -force} {-root_dir -vendor -library -taxonomy} 0 0
    ipx::current_core {} {} 0 0
    ipx::get_user_parameters {} {-of_objects} 0 0
    ipx::remove_user_parameter {} {} 2 2
    ipx::infer_bus_interface {} {} 3 3
    ipx::associate_bus_interfaces {} {-busif -clock -reset} 1 1
    ipx::add_bus_parameter {-quiet} {} 2 2
    ipx::add_memory_map {-quiet} {} 2 2
    ipx::get_bus_interfaces {} {-of_objects} 1 1
    ipx::add_address_block {-quiet} {} 2 2
    ipx::add_register {} {} 2 2
    ipx::add_field {} {} 2 2
    ipx::create_xgui_files {} {} 1 1
    ipx::update_checksums {} {} 1 1
    ipx::check_integrity {-kernel -xrt} {} 1 1
    ipx::save_core {} {} 1 1
    ipgui::add_param {} {-name} 1 1
    ipgui::add_page {} {-name} 1 1
}

proc record {name flags options least most arguments} {
    set values 0
    for {set k 0} {$k < [llength $arguments]} {incr k} {
        set word [lindex $arguments $k]
        if {$word in $flags} continue
        if {$word in $options} {
            if {[incr k] >= [llength $arguments]} { error "$name: $word wants a value" }
        } elseif {[string match -* $word]} {
            error "$name has no option $word"
        } else {
            incr values
        }
    }
    if {$values < $least || $values > $most} { error "$name takes $least to $most values: $arguments" }
    lappend ::calls [list $name {*}$arguments]
    return object[incr ::objects]
}

namespace eval ipx {}
namespace eval ipgui {}
foreach {name flags options least most} $commands {
    proc ::$name args "record $name [list $flags] [list $options] $least $most \$args"
}
proc ipx::get_user_parameters args {
    record ipx::get_user_parameters {} -of_objects 0 0 $args
    return {}
}
# Vivado refuses a kernel without these (IP_Flow 19-5629 and 19-5630).
proc ipx::check_integrity args {
    foreach wanted {{set_property xpm_libraries *} {ipx::add_bus_parameter * FREQ_HZ *} {set_property value_resolve_type user *}} {
        if {"-kernel" in $args && [lsearch -glob $::calls $wanted] < 0} {
            error "ipx::check_integrity -kernel: no call of $wanted"
        }
    }
    record ipx::check_integrity {-kernel -xrt} {} 1 1 $args
}
proc set_property args {
    if {[lindex $args 0] eq "-dict"} {
        if {[llength $args] != 3 || [llength [lindex $args 1]] % 2} { error "set_property -dict: {names and values} object: $args" }
    } elseif {[llength $args] != 3} {
        error "set_property takes name, value, object: $args"
    }
    lappend ::calls [list set_property {*}$args]
}
# The board files that are installed.
proc get_board_parts args {
    record get_board_parts {-quiet -latest_file_version} {} 0 1 $args
    return [lsearch -all -inline {tul.com.tw:pynq-z2:part0:1.0 xilinx.com:zcu104:part0:1.1 xilinx.com:zcu104:part0:1.0} [lindex $args end]]
}
proc get_property {name object} {
    lappend ::calls [list get_property $name $object]
    return [switch $name SLACK {expr {[info exists ::env(SLACK)] ? $::env(SLACK) : 0.25}} PROGRESS {string cat 100%} PERIOD {expr 3.333} default {string cat x}]
}
rename exit ::tcl_exit
proc exit {{code 0}} { error "exit $code" }
rename info ::tcl_info
proc info args {
    if {[lindex $args 0] eq "script"} { return $::script }
    return [uplevel 1 [list ::tcl_info {*}$args]]
}
rename unknown ::tcl_unknown
proc unknown args { error "Vivado has no command [lindex $args 0] (or vivado.tcl does not list it)" }

if {[catch {uplevel #0 [list source $script]} message options]} {
    puts stderr "$message\n[dict get $options -errorinfo]"
    tcl_exit 1
}
if {[llength [::tcl_info commands init_gui]]} { init_gui object0 }
foreach call $calls { puts $call }
