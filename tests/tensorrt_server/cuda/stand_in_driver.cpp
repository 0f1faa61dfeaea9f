// What the probe asks of the CUDA driver, over memory of the process: a card that only tests have.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

int cuInit(unsigned) {
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "a card that only tests have");
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{8} << 30;
  return 0;
}
/// Compute capability 8.9.
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMajor = 75;
  *value = attribute == kMajor ? 8 : 9;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int only;
  *context = &only;
  return 0;
}
int cuCtxSetCurrent(void*) {
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  static int only;
  *stream = &only;
  return 0;
}
int cuStreamSynchronize(void*) {
  return 0;
}
int cuMemAlloc_v2(std::uint64_t* at, std::size_t bytes) {
  *at = reinterpret_cast<std::uint64_t>(std::malloc(bytes));
  return *at == 0 ? 2 : 0;  // CUDA_ERROR_OUT_OF_MEMORY
}
int cuMemFree_v2(std::uint64_t at) {
  std::free(reinterpret_cast<void*>(at));
  return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuGetErrorString(int, const char** words) {
  *words = "an error of a card that only tests have";
  return 0;
}
}
