void f(int A[8]) {
#pragma sa //~ ERROR E0206 the marked region is empty
#pragma endsa
}
