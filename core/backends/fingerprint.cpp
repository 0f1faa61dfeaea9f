#include "backends/fingerprint.h"

#include <omp.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "backends/threads.h"
#include "base/sanitizers.h"
#include "base/text.h"
#include "target/target.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fusescope {
namespace {

std::string cpuModel() {
  std::string model;
#if defined(__x86_64__)
  constexpr unsigned kFirstLeaf = 0x80000002U, kLastLeaf = 0x80000004U;  // each leaf returns 16 characters of the name
  for (unsigned leaf = kFirstLeaf; leaf <= kLastLeaf; ++leaf) {
    std::array<unsigned, 4> words{};
    if (__get_cpuid(leaf, &words[0], &words[1], &words[2], &words[3]) == 0) break;
    std::array<char, sizeof words> characters{};
    std::memcpy(characters.data(), words.data(), sizeof words);
    model.append(characters.data(), ::strnlen(characters.data(), characters.size()));
  }
  // Virtual machines report the same name for several generations of processors; these numbers distinguish them.
  std::array<unsigned, 4> words{};
  if (__get_cpuid(1, &words[0], &words[1], &words[2], &words[3]) != 0) model += " id " + std::to_string(words[0]);
#endif
  return model.empty() ? "unknown" : model;
}

/// Returns the sizes of the data caches in bytes. A size is 0 or negative if the system does not report it.
std::string cacheSizes() {
  std::vector<std::string> sizes;
  for (const int level : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE})
    sizes.push_back(std::to_string(::sysconf(level)));
  return joined(sizes, "+");
}

std::string buildType() {
  std::vector<std::string> words;
#if defined(__OPTIMIZE__)
  words.emplace_back("optimised");
#else
  words.emplace_back("not optimised");
#endif
#if !defined(NDEBUG)
  words.emplace_back("asserts");
#endif
#if FUSESCOPE_ADDRESS_SANITIZER
  words.emplace_back("AddressSanitizer");
#endif
#if FUSESCOPE_THREAD_SANITIZER
  words.emplace_back("ThreadSanitizer");
#endif
  return joined(words, "+");
}

/// Describes how OpenMP places its threads, and what the threads do while they wait.
std::string threadPolicy() {
  constexpr std::array<const char*, 5> kBinds = {"free", "bound", "master", "close", "spread"};
  const auto bind = static_cast<std::size_t>(omp_get_proc_bind());
  std::string text = std::string("OpenMP ") + (bind < kBinds.size() ? kBinds[bind] : "bound") +
                     (omp_get_dynamic() != 0 ? ", dynamic" : "");
  for (const char* variable : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_PLACES", "GOMP_CPU_AFFINITY"})
    if (const char* value = std::getenv(variable)) text += std::string(", ") + variable + "=" + value;
  return text;
}

}  // namespace

std::string Fingerprint::text() const {
  std::vector<std::string> texts;
  for (const auto& [name, value] : parts) texts.push_back(name + ": " + value);
  return joined(texts, "; ");
}

const Fingerprint& hostFingerprint() {
  static const Fingerprint fingerprint = [] {
    const Capabilities capabilities = hostCapabilities();
    return Fingerprint{{{"cpu", cpuModel()},
                        {"caches", cacheSizes()},
                        {"cores", std::to_string(hardwareThreads())},
                        {"capabilities", joined({capabilities.begin(), capabilities.end()}, "+")},
                        {"compiler", __VERSION__},
                        {"build", buildType()},
                        {"threads", threadPolicy()}}};
  }();
  return fingerprint;
}

}  // namespace fusescope
