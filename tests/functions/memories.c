// Functions whose phases pass values on through memories of the IP: both have those of means and norms together, unless runs
// overlap.
// sagen: --function center_reduce,corr --board zcu104 --merge --grid 4 --sequence 12
// sagen: --function center_reduce,corr --board zcu104 --merge --grid 4 --queue 2 --overlap --sequence 8
#define N 16
#include "../../examples/la/corr.c"
