#include <xrt/xrt_kernel.h>
