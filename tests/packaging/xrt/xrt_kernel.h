// Stands in for XRT: says what a host asks for, and runs nothing. Buffers are as long as the host says, on the heap.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <type_traits>

#define XCL_BO_SYNC_BO_TO_DEVICE 0
#define XCL_BO_SYNC_BO_FROM_DEVICE 1

enum ert_cmd_state { ERT_CMD_STATE_COMPLETED = 4, ERT_CMD_STATE_TIMEOUT = 7 };

namespace xrt {

struct device {
    explicit device(int) {}
    int load_xclbin(const std::string &) { return 0; }
};

struct bo {
    size_t bytes;
    void *memory;
    bo(const device &, size_t size, int) : bytes(size), memory(std::malloc(size)) {}
    ~bo() { std::free(memory); }
    bo(const bo &) = delete;
    template <typename T> T map() { return static_cast<T>(memory); }
    void sync(int) {}
};

struct run;

struct kernel {
    enum class cu_access_mode { exclusive };
    kernel(const device &, int, const std::string &, cu_access_mode) {}
    int group_id(int index) const { return index; }
    uint32_t read_register(uint32_t) const { return 0; }
    void write_register(uint32_t, uint32_t) {}
    template <typename... Values> run operator()(const Values &...values);
};

struct run {
    explicit run(const kernel &) {}
    void set_arg(int index, const bo &buffer) { std::cout << "buffer " << index << " " << buffer.bytes << "\n"; }
    template <typename T> void set_arg(int index, const T &value) {
        uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        std::cout << "value " << index << " " << bits << "\n";
    }
    void start() {}
    ert_cmd_state wait(const std::chrono::milliseconds &) { return ERT_CMD_STATE_COMPLETED; }
};

template <typename... Values> run kernel::operator()(const Values &...values) {
    run started(*this);
    int index = 0;
    (started.set_arg(index++, values), ...);
    return started;
}

}
